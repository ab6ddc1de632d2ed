// Shows the remote with noVNC. The URL ends in #watch=TOKEN or #act=TOKEN. The server decides and enforces what a token
// allows.

const RETRY = 1000, HEALTH = 2000; // milliseconds

const [mode, token = ''] = location.hash.slice(1).split('=');
const acting = mode === 'act';
const element = id => document.getElementById(id);
const plain = text => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD'); // for text of the remote
const say = text => { element('state').textContent = text; };

const address = () => {
  const url = new URL('websockify', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  url.hash = '';
  url.search = new URLSearchParams({ token });
  return url.href;
};

const load = () => import('./novnc/core/rfb.js').catch(error => {
  say(`noVNC cannot be loaded: ${error.message}; trying again`);
  setTimeout(() => location.reload(), RETRY); // a module that failed to load is not loaded again before
  throw error;
});

const connect = async () => {
  const { default: RFB } = await load();
  const rfb = new RFB(element('screen'), address(), { shared: true });
  rfb.viewOnly = !acting;
  rfb.scaleViewport = true;
  rfb.focusOnClick = acting;
  rfb.background = '#16181d';
  rfb.addEventListener('connect', () => {
    say('connected');
    if (acting) rfb.focus();
  });
  rfb.addEventListener('desktopname', event => {
    element('name').textContent = document.title = plain(event.detail.name);
  });
  rfb.addEventListener('disconnect', () => {
    say('no connection: the remote has ended, or the token is not valid; trying again');
    setTimeout(connect, RETRY);
  });
};

// What the remote says of its game on the health page: who controls it, the episode and the rate of its ticks.
const watchGame = async () => {
  try {
    const health = await (await fetch('../healthz', { cache: 'no-store' })).json();
    const agents = health.controllers ? 'an agent plays' : 'no agent';
    const rate = Math.round(health.ticks_per_second ?? 0);
    const episode = `episode ${health.episode_id}${health.env_state === 'running' ? '' : `, ${health.env_state}`}`;
    element('game').textContent = plain([agents, episode, `${rate} ticks/s`, `${health.vnc_clients} on VNC`].join(' · '));
  } catch {
    element('game').textContent = '';
  }
  setTimeout(watchGame, HEALTH);
};

element('access').textContent = acting ? 'your keys and clicks go to the remote' : 'watching only';
element('access').classList.toggle('acting', acting);
addEventListener('hashchange', () => location.reload());
watchGame();
if (token) connect();
else say('the address has no token: see universe-client view');
