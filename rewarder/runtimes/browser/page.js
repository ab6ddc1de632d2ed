// Runs in every page before its own scripts: keeps the agent on the page, begins episodes, and reports rewards.
(() => {
  'use strict';

  // Disable the browser's own shortcuts and menus, except those of text fields.
  const TEXT_KEYS = new Set([
    'a', 'c', 'v', 'x', 'y', 'z', 'arrowleft', 'arrowright', 'arrowup', 'arrowdown', 'home', 'end', 'backspace', 'delete',
  ]);
  const stop = event => event.preventDefault();
  const isShortcut = event =>
    /^F\d+$/.test(event.key) || event.altKey || event.metaKey || (event.shiftKey && event.key === 'Escape') ||
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
  setInterval(report, 500, {}); // shows that the page does not hang

  // Resolves when the present state of the page is on the screen. Animation frames precede that by any number of frames
  // on a busy machine. Element timing reports when a new text has been presented, also an invisible one.
  const painted = () => new Promise(resolve => {
    const mark = document.createElement('p');
    mark.setAttribute('elementtiming', 'universe');
    mark.textContent = '.';
    mark.style.cssText =
      'position: fixed; right: 0; bottom: 0; margin: 0; font: 4px sans-serif; color: rgb(128 128 128 / 1%); pointer-events: none';
    const finish = () => {
      clearTimeout(late);
      presented.disconnect();
      mark.remove();
      resolve();
    };
    const presented = new PerformanceObserver(finish);
    presented.observe({ type: 'element' });
    const late = setTimeout(finish, 1000);
    document.body.append(mark);
  });

  const until = async condition => {
    while (!condition()) await new Promise(resolve => setTimeout(resolve, 10));
  };

  const mulberry32 = seed => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };

  // The interface of our own pages. They set `universe.begin = seed => text` and, with a time limit, `seconds`.
  const universe = (window.universe = {
    begin: null,
    seconds: null,
    random: seed => mulberry32(seed ?? Math.floor(Math.random() * 2 ** 31)), // a function that returns numbers from 0 to 1
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
      const instruction = core.getUtterance(); // an object on pages that add the solution
      return typeof instruction === 'string' ? instruction : instruction.utterance;
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
