// Runs in every page before its own scripts: keeps the agent on the page, begins episodes, and reports rewards.
(() => {
  'use strict';

  // Shortcuts and menus of the browser itself are not part of any task; those of text fields are.
  const TEXT_KEYS = new Set([
    'a', 'c', 'v', 'x', 'y', 'z', 'arrowleft', 'arrowright', 'arrowup', 'arrowdown', 'home', 'end', 'backspace', 'delete',
  ]);
  const stop = event => event.preventDefault();
  const isShortcut = event =>
    /^F\d+$/.test(event.key) || event.altKey || event.metaKey ||
    (event.ctrlKey && event.key !== 'Control' && !TEXT_KEYS.has(event.key.toLowerCase()));
  window.addEventListener('keydown', event => isShortcut(event) && stop(event), true);
  window.addEventListener('contextmenu', stop, true);
  window.addEventListener('wheel', event => event.ctrlKey && stop(event), { capture: true, passive: false });
  for (const name of ['mousedown', 'mouseup', 'auxclick']) {
    window.addEventListener(name, event => [1, 3, 4].includes(event.button) && stop(event), true);
  }
  if (window !== window.top) return;

  const push = window.__universe_push;
  delete window.__universe_push;
  let episode = 0;
  const report = fields => push(JSON.stringify({ episode, ...fields }));
  setInterval(report, 500, {}); // says that the page is alive

  const painted = () => {
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const late = new Promise(resolve => setTimeout(resolve, 500));
    return Promise.race([frame().then(frame).then(frame), late]);
  };

  const until = async condition => {
    while (!condition()) await new Promise(resolve => setTimeout(resolve, 10));
  };

  // What a page of our own may use; it sets `universe.begin = seed => text` and, if it has a time limit, `seconds`.
  const universe = (window.universe = {
    begin: null,
    seconds: null,
    reward: (reward, info = {}) => report({ reward, info }),
    done: (reward = 0, info = {}) => report({ reward, info, done: true }),
  });

  const miniwob = core => {
    const end = core.endEpisode;
    core.endEpisode = (...rest) => {
      const before = window.WOB_EPISODE_ID;
      end(...rest);
      if (window.WOB_EPISODE_ID === before) return;
      universe.done(window.WOB_REWARD_GLOBAL, {
        raw_reward: window.WOB_RAW_REWARD_GLOBAL,
        reason: window.WOB_REWARD_REASON ?? null,
      });
    };
    universe.begin = async seed => {
      Math.seedrandom(seed ?? undefined);
      core.startEpisodeReal();
      universe.seconds = core.EPISODE_MAX_TIME / 1000;
      await until(() => window.WOB_TASK_READY);
      return core.getUtterance();
    };
  };

  window.addEventListener('DOMContentLoaded', () => {
    if (window.core && window.core.startEpisodeReal) miniwob(window.core);
  });

  window.__universe_begin = async (number, seed) => {
    episode = number;
    const text = await universe.begin(seed);
    await painted();
    return { text, seconds: universe.seconds };
  };
})();
