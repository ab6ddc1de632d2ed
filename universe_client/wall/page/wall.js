"use strict";
// The tiles of the wall. The server sends the state of all remotes as JSON a few times a second, and pictures as binary
// messages: two bytes with the index of the remote, then a JPEG.
const KEEP = 1800; // pictures of the open tile to look back at: two minutes at fifteen a second
const get = id => document.getElementById(id);
const wall = get("wall");
const [token, ...modes] = location.hash.slice(1).split("&");
let tiles = [], past = [], open = -1, back = 0, socket, before;

function make(tag, parent, name) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  parent.append(element);
  return element;
}

class Screen {
  constructor(parent) {
    this.root = make("div", parent, "screen");
    this.canvas = make("canvas", this.root);
    this.why = make("div", this.root, "why");
    this.keys = make("div", this.root, "keys");
  }
  show(bitmap, state) {
    if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) {
      this.canvas.width = bitmap.width;
      this.canvas.height = bitmap.height;
    }
    const context = this.canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    if (!acting && state && state.pointer && state.size[0]) this.point(context, state, bitmap.width / state.size[0]);
  }
  point(context, state, scale) {
    const [x, y, mask] = state.pointer;
    context.beginPath();
    context.arc(x * scale, y * scale, mask ? 9 : 6, 0, 2 * Math.PI);
    context.lineWidth = mask ? 4 : 2;
    context.strokeStyle = mask ? "#ffb454" : "#e6e9ee";
    context.stroke();
  }
  describe(state) {
    const gone = state.size[0] === 0;
    this.canvas.hidden = gone;
    this.why.textContent = gone ? (state.error || state.reason || "no picture") : "";
    this.why.classList.toggle("error", gone && Boolean(state.error));
    this.keys.replaceChildren(...state.held.map(name => Object.assign(document.createElement("span"), {textContent: name})));
  }
}

class Tile {
  constructor(index) {
    this.index = index;
    this.root = make("div", wall, "tile");
    this.root.tabIndex = 0;
    this.screen = new Screen(this.root);
    const foot = make("div", this.root, "foot");
    make("span", foot, "index").textContent = index;
    this.score = make("span", foot, "score");
    this.curve = make("canvas", foot);
    this.rate = make("span", foot, "rate");
    this.root.onclick = () => choose(index);
    this.root.onkeydown = event => { if (event.key === "Enter") choose(index); };
  }
  describe(state, rate) {
    this.state = state;
    this.fps = rate;
    this.screen.describe(state);
    this.root.classList.toggle("error", Boolean(state.error));
    this.root.title = [state.env, state.task, state.error].filter(Boolean).join("\n");
    this.score.textContent = number(state.score);
    const median = state.reaction.median;
    this.rate.textContent = `ep ${state.episodes}  ${rate.toFixed(0)}/s` + (median === null ? "" : `  ${median.toFixed(median < 10 ? 1 : 0)} ms`);
    curve(this.curve, state.returns);
  }
}

function number(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Math.round(value * 100) / 100);
}

function curve(canvas, values) {
  const width = canvas.width = Math.max(canvas.clientWidth, 1), height = canvas.height = Math.max(canvas.clientHeight, 1);
  const context = canvas.getContext("2d");
  if (values.length < 2) {
    if (height >= 50) note(context, values.length ? number(values[0]) : "no episode has ended", 20);
    return;
  }
  const low = Math.min(...values), high = Math.max(...values);
  const y = value => height - 2 - (height - 4) * (high > low ? (value - low) / (high - low) : 0.5);
  context.beginPath();
  values.forEach((value, at) => context.lineTo(1 + at * (width - 2) / (values.length - 1), y(value)));
  context.strokeStyle = "#7fa3d1";
  context.lineWidth = 1.5;
  context.stroke();
  if (height < 50) return;
  note(context, number(high), 12);
  note(context, number(low), height - 4);
}

function note(context, words, y) {
  context.fillStyle = "#8a93a2";
  context.font = "11px system-ui";
  context.fillText(words, 3, y);
}

function bars(canvas, reaction) {
  const width = canvas.width = Math.max(canvas.clientWidth, 1), height = canvas.height = Math.max(canvas.clientHeight, 1);
  const context = canvas.getContext("2d"), most = Math.max(...reaction.bars, 1), step = width / reaction.bars.length;
  context.font = "10px system-ui";
  reaction.bars.forEach((count, at) => {
    const tall = (height - 30) * count / most;
    context.fillStyle = "#7fa3d1";
    context.fillRect(at * step + 2, height - 16 - tall, step - 4, tall);
    context.fillStyle = "#8a93a2";
    const label = at < reaction.bounds.length ? `<${reaction.bounds[at]}` : "more";
    context.fillText(label, at * step + 2, height - 4);
  });
}

function facts(list, entries) {
  list.replaceChildren(...entries.map(([name, value]) => {
    const row = document.createElement("div");
    make("dt", row).textContent = name;
    make("dd", row).textContent = value;
    return row;
  }));
}

function describe(message) {
  const states = message.tiles;
  if (tiles.length !== states.length) {
    wall.replaceChildren();
    tiles = states.map((_, index) => new Tile(index));
    arrange();
    if (modes.includes("play")) {
      document.body.classList.toggle("playing", states.length === 1); // there is no agent to return to
      choose(0);
      take(true);
    }
  }
  const elapsed = before ? message.time - before.time : 0;
  const rates = states.map((state, at) => elapsed ? (state.frames - before.tiles[at].frames) / elapsed : 0);
  before = message;
  tiles.forEach((tile, at) => tile.describe(states[at], rates[at]));
  const running = states.filter(state => state.size[0]).length, returns = states.flatMap(state => state.returns);
  const mean = returns.length ? number(returns.reduce((sum, value) => sum + value, 0) / returns.length) : "none yet";
  get("env").textContent = [...new Set(states.map(state => state.env).filter(Boolean))].join(", ") || "no remote runs yet";
  facts(get("totals"), [
    ["running", `${running} of ${states.length}`],
    ["frames/s", rates.reduce((sum, rate) => sum + rate, 0).toFixed(0)],
    ["episodes", states.reduce((sum, state) => sum + state.episodes, 0)],
    ["mean return", mean],
  ]);
  if (open >= 0) detail(states[open], rates[open]);
}

function detail(state, rate) {
  large.describe(state);
  get("name").textContent = `Remote ${open}: ${state.env || "unknown"}`;
  get("task").textContent = state.task || "";
  facts(get("facts"), [
    ["state", state.reason || "running"], ["acts", state.person ? "a person" : "the agent"],
    ["time", state.seconds === null ? "none" : `${state.seconds.toFixed(1)} s`], ["episode", state.episode || "none"], ["ended", state.episodes],
    ["score", number(state.score)], ["frames/s", rate.toFixed(1)],
    ["screen", state.size[0] ? `${state.size[0]}x${state.size[1]}` : "none"],
    ["reaction", state.reaction.median === null ? "unknown" : `${state.reaction.median.toFixed(1)} ms (median)`],
    ["error", state.error || "none"],
  ]);
  curve(get("curve"), state.returns);
  bars(get("bars"), state.reaction);
  get("past").max = past.length ? Math.floor((Date.now() - past[0].time) / 1000) : 0;
}

async function picture(data) {
  const index = new DataView(data).getUint16(0), blob = new Blob([new Uint8Array(data, 2)], {type: "image/jpeg"});
  const state = tiles[index] && tiles[index].state;
  if (index === open) {
    past.push({time: Date.now(), blob, state});
    if (past.length > KEEP) past.shift();
    if (back) return;
  }
  const bitmap = await createImageBitmap(blob);
  if (index === open) large.show(bitmap, state);
  else if (tiles[index]) tiles[index].screen.show(bitmap, state);
  pictures += 1;
}

async function lookBack(seconds) {
  back = seconds;
  get("when").textContent = seconds ? `${seconds} s ago` : "live";
  const until = Date.now() - 1000 * seconds, entry = past.findLast(each => each.time <= until) || past[0];
  if (entry) large.show(await createImageBitmap(entry.blob), entry.state);
}

function choose(index) {
  take(false);
  open = index;
  past = [];
  get("large").hidden = index < 0;
  wall.hidden = index >= 0;
  wall.style.display = index >= 0 ? "none" : "";
  get("past").value = 0;
  lookBack(0);
  arrange();
}

function arrange() {
  const count = tiles.length || 1, space = wall.getBoundingClientRect();
  if (open < 0 && space.width) {
    // The number of columns for which 4:3 tiles are largest.
    let best = 1, most = 0;
    for (let columns = 1; columns <= count; columns++) {
      const rows = Math.ceil(count / columns), width = space.width / columns, height = space.height / rows - 30;
      const size = Math.min(width, height * 4 / 3);
      if (size > most) [best, most] = [columns, size];
    }
    wall.style.gridTemplateColumns = `repeat(${best}, minmax(0, 1fr))`;
    wall.style.gridAutoRows = `minmax(110px, ${Math.floor(space.height / Math.ceil(count / best)) - 10}px)`;
    size = most * devicePixelRatio;
  }
  if (socket && socket.readyState === WebSocket.OPEN) {
    const stage = get("stage").getBoundingClientRect();
    socket.send(JSON.stringify({size, large: Math.max(stage.width, stage.height, 320) * devicePixelRatio, open}));
  }
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/tiles?token=${token}`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => { link("live", false); arrange(); };
  socket.onmessage = event => typeof event.data === "string" ? describe(JSON.parse(event.data)) : picture(event.data);
  socket.onclose = () => { take(false); link("the agent has ended", true); setTimeout(connect, 2000); };
}

function link(words, bad) {
  get("link").textContent = words;
  get("link").classList.toggle("bad", bad);
}

// A person who acts in place of the agent, on the open tile.
const NAMES = {ArrowLeft: "Left", ArrowRight: "Right", ArrowUp: "Up", ArrowDown: "Down", Enter: "Return",
  Backspace: "BackSpace", PageUp: "Page_Up", PageDown: "Page_Down", Control: "Control_L", Shift: "Shift_L", Alt: "Alt_L",
  AltGraph: "ISO_Level3_Shift", Meta: "Super_L", CapsLock: "Caps_Lock", " ": "space", ContextMenu: "Menu"};
const down = new Map(); // the names that were sent, by the place of the key
let mask = 0, acting = false;

function request(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function take(now) {
  if (now === acting) return;
  acting = now;
  down.clear();
  mask = 0;
  request({take: now});
  document.body.classList.toggle("acting", now);
  get("take").textContent = now ? "Let the agent act" : "Take over";
}

function key(event, pressed) {
  if (!acting || event.repeat) return;
  event.preventDefault();
  const name = pressed ? NAMES[event.key] || event.key : down.get(event.code);
  if (!name || name === "Dead" || name === "Process" || name === "Unidentified") return;
  if (pressed) down.set(event.code, name); else down.delete(event.code);
  request({key: name, down: pressed});
}

function point(event, buttons) {
  const state = tiles[open] && tiles[open].state;
  if (!acting || !state || !state.size[0]) return;
  event.preventDefault();
  const box = large.canvas.getBoundingClientRect(), scale = Math.min(box.width / state.size[0], box.height / state.size[1]);
  const left = box.left + (box.width - state.size[0] * scale) / 2, top = box.top + (box.height - state.size[1] * scale) / 2;
  const within = (value, size) => Math.min(Math.max(Math.floor(value / scale), 0), size - 1);
  request({pointer: [within(event.clientX - left, state.size[0]), within(event.clientY - top, state.size[1]), buttons]});
}

function buttons(event) {
  mask = (event.buttons & 1) | (event.buttons & 4 ? 2 : 0) | (event.buttons & 2 ? 4 : 0);
  point(event, mask);
}

let size = 320;
var pictures = 0; // drawn since the page was loaded
const large = new Screen(get("stage"));
get("close").onclick = () => choose(-1);
get("past").oninput = event => lookBack(Number(event.target.value));
get("take").onclick = () => { take(!acting); get("take").blur(); };
addEventListener("keydown", event => {
  if (!acting && event.key === "Escape" && open >= 0) choose(-1);
  key(event, true);
});
addEventListener("keyup", event => key(event, false));
addEventListener("blur", () => down.forEach((name, code) => { request({key: name, down: false}); down.delete(code); }));
for (const type of ["pointermove", "pointerdown", "pointerup"]) large.root.addEventListener(type, buttons);
large.root.addEventListener("contextmenu", event => event.preventDefault());
large.root.addEventListener("wheel", event => {
  const notch = event.deltaY < 0 ? 8 : 16;
  point(event, mask | notch);
  point(event, mask);
});
get("take").hidden = !modes.includes("act");
addEventListener("resize", arrange);
connect();
