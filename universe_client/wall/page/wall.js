"use strict";
// The tiles of the wall. The server sends the state of all remotes as JSON a few times a second, and pictures as binary
// messages: two bytes with the index of the remote, then a JPEG.
const KEEP = 1800; // pictures of the open tile to look back at: two minutes at fifteen a second
const LATELY = 8; // states over which rates are means: two seconds
const get = id => document.getElementById(id);
const wall = get("wall");
const [token, ...modes] = location.hash.slice(1).split("&");
let tiles = [], past = [], open = -1, moment = 0, socket, lately = [];

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
  point(context, state, scale) { // a ring of the same size, however large the picture is shown
    const [x, y, mask] = state.pointer, {width, height, clientWidth, clientHeight} = this.canvas;
    const pixel = Math.max(width / Math.max(clientWidth, 1), height / Math.max(clientHeight, 1));
    const radius = Math.min(Math.max(clientWidth / 40, 5), 12) * pixel;
    context.beginPath();
    context.arc(x * scale, y * scale, radius, 0, 2 * Math.PI);
    for (const [wide, colour] of [[mask ? 5 : 4, "#14161a"], [mask ? 3 : 2, mask ? "#ffb454" : "#e6e9ee"]]) {
      context.lineWidth = wide * pixel; // on a dark edge, to be seen on white
      context.strokeStyle = colour;
      context.stroke();
    }
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
    make("span", foot, "index").textContent = `#${index}`;
    this.score = make("span", foot, "score");
    this.curve = make("canvas", foot);
    [this.episodes, this.rate, this.reaction] = ["episodes", "rate", "reaction"].map(name => make("span", foot, name));
    this.root.onclick = () => choose(index);
    this.root.onkeydown = event => { if (event.key === "Enter") choose(index); };
  }
  describe(state) {
    this.state = state;
    this.screen.describe(state);
    this.root.classList.toggle("error", Boolean(state.error));
    this.root.title = [state.env, state.task, state.error].filter(Boolean).join("\n");
    this.score.textContent = number(state.score);
    const median = state.reaction.median;
    this.episodes.textContent = `ep ${state.episodes}`;
    this.rate.textContent = `${state.rate.toFixed(0)}/s`;
    this.reaction.textContent = median === null ? "" : `${median.toFixed(median < 10 ? 1 : 0)} ms`;
    curve(this.curve, state.returns);
  }
}

function number(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Math.round(value * 100) / 100);
}

function paint(canvas) { // an empty canvas in units of CSS pixels
  const width = Math.max(canvas.clientWidth, 1), height = Math.max(canvas.clientHeight, 1);
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  const context = canvas.getContext("2d"), large = height >= 50;
  context.scale(devicePixelRatio, devicePixelRatio);
  if (large) context.font = getComputedStyle(canvas).font;
  return {context, width, height, large};
}

function curve(canvas, values) {
  const {context, width, height, large} = paint(canvas);
  if (!values.length) {
    if (large) note(context, "no episode has ended", width / 2, height / 2, "center");
    return;
  }
  const low = Math.min(...values), high = Math.max(...values), left = large ? width / 8 : 2, margin = large ? 10 : 3;
  const x = at => values.length > 1 ? left + at * (width - left - margin) / (values.length - 1) : (left + width) / 2;
  const y = value => height - margin - (height - 2 * margin) * (high > low ? (value - low) / (high - low) : 0.5);
  context.strokeStyle = context.fillStyle = "#7fa3d1";
  context.lineWidth = 1.5;
  context.beginPath();
  values.forEach((value, at) => context.lineTo(x(at), y(value)));
  context.stroke();
  if (values.length === 1 || large && values.length <= 20) values.forEach((value, at) => dot(context, x(at), y(value)));
  if (large) for (const value of new Set([low, high])) note(context, number(value), left - 6, y(value), "right");
}

function dot(context, x, y) {
  context.beginPath();
  context.arc(x, y, 2.5, 0, 2 * Math.PI);
  context.fill();
}

function note(context, words, x, y, align) {
  context.fillStyle = "#8a93a2";
  context.textAlign = align;
  context.textBaseline = "middle";
  context.fillText(words, x, y);
}

function bars(canvas, reaction) {
  const {context, width, height} = paint(canvas);
  const most = Math.max(...reaction.bars, 1), step = width / reaction.bars.length, foot = height / 6;
  reaction.bars.forEach((count, at) => {
    const tall = (height - foot - 8) * count / most;
    context.fillStyle = "#7fa3d1";
    context.fillRect(at * step + 2, height - foot - tall, step - 4, tall);
  });
  reaction.bounds.forEach((bound, at) => note(context, bound, (at + 1) * step, height - foot / 2, "center"));
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
    choose(-1);
    wall.replaceChildren();
    tiles = states.map((_, index) => new Tile(index));
    arrange();
  }
  const begins = !lately.length;
  lately.push(message);
  if (lately.length > LATELY) lately.shift();
  const [first] = lately, elapsed = message.time - first.time;
  states.forEach((state, at) => { state.rate = elapsed ? (state.frames - first.tiles[at].frames) / elapsed : 0; });
  tiles.forEach((tile, at) => tile.describe(states[at]));
  if (begins && modes.includes("play")) {
    document.body.classList.toggle("playing", states.length === 1); // there is no agent to return to
    choose(0);
    take(true);
  }
  const running = states.filter(state => state.size[0]).length, returns = states.flatMap(state => state.returns);
  const sum = values => values.reduce((total, value) => total + value, 0);
  get("env").textContent = [...new Set(states.map(state => state.env).filter(Boolean))].join(", ") || "no remote runs yet";
  facts(get("totals"), [
    ["running", `${running} of ${states.length}`],
    ["frames/s", sum(states.map(state => state.rate)).toFixed(0)],
    ["episodes", sum(states.map(state => state.episodes))],
    ["mean return", returns.length ? number(sum(returns) / returns.length) : "none yet"],
  ]);
  if (open >= 0) detail(states[open]);
}

function detail(now) {
  const entry = remembered(), state = entry ? entry.state : now;
  large.describe(state);
  get("name").textContent = `Remote ${open}: ${state.env || "unknown"}`;
  get("task").textContent = state.task || "";
  facts(get("main"), [
    ["score", number(state.score)], ["time", state.seconds === null ? "none" : `${state.seconds.toFixed(1)} s`],
  ]);
  facts(get("facts"), [
    ["state", state.reason || "running"], ["acts", state.person ? "a person" : "the agent"],
    ["episode", state.episode || "none"], ["ended", state.episodes], ["frames/s", state.rate.toFixed(1)],
    ["screen", state.size[0] ? `${state.size[0]}x${state.size[1]}` : "none"],
    ["reaction", state.reaction.median === null ? "unknown" : `${state.reaction.median.toFixed(1)} ms (median)`],
    ["error", state.error || "none"],
  ]);
  curve(get("curve"), state.returns);
  bars(get("bars"), state.reaction);
  const ago = time => (Date.now() - time) / 1000;
  get("past").max = past.length ? ago(past[0].time) : 0;
  get("past").value = entry ? ago(entry.time) : 0;
  get("when").textContent = entry ? `${ago(entry.time).toFixed(1)} s ago` : "live";
}

async function picture(data) {
  const index = new DataView(data).getUint16(0), blob = new Blob([new Uint8Array(data, 2)], {type: "image/jpeg"});
  const state = tiles[index] && tiles[index].state;
  if (index === open) {
    past.push({time: Date.now(), blob, state});
    if (past.length > KEEP) past.shift();
    if (moment) return;
  }
  const bitmap = await createImageBitmap(blob);
  if (index === open) large.show(bitmap, state);
  else if (tiles[index]) tiles[index].screen.show(bitmap, state);
  pictures += 1;
}

// Return the picture of the moment that a person looks back at; undefined if it is now.
function remembered() {
  return moment ? past.findLast(each => each.time <= moment) || past[0] : undefined;
}

async function lookBack(seconds) {
  moment = seconds ? Date.now() - 1000 * seconds : 0;
  const entry = remembered() || past.at(-1);
  if (!entry) return;
  detail(moment ? entry.state : tiles[open].state);
  large.show(await createImageBitmap(entry.blob), entry.state);
}

function choose(index) {
  take(false);
  open = index;
  past = [];
  moment = 0;
  get("large").hidden = index < 0;
  wall.hidden = index >= 0;
  wall.style.display = index >= 0 ? "none" : "";
  if (tiles[open]) detail(tiles[open].state);
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
  socket.onopen = () => { lately = []; link("live", false); arrange(); };
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
let mask = 0, at = [0, 0], acting = false;

function request(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function take(now) {
  if (now === acting) return;
  acting = now;
  down.clear();
  mask = 0;
  request({take: now});
  if (now) lookBack(0);
  get("past").disabled = now;
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
  at = [within(event.clientX - left, state.size[0]), within(event.clientY - top, state.size[1])];
  request({pointer: [...at, buttons]});
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
addEventListener("blur", () => { // what is released elsewhere is not told
  down.forEach(name => request({key: name, down: false}));
  down.clear();
  if (mask) request({pointer: [...at, mask = 0]});
});
for (const type of ["pointermove", "pointerdown", "pointerup"]) large.root.addEventListener(type, buttons);
large.root.addEventListener("pointerdown", event => large.root.setPointerCapture(event.pointerId)); // to see its release
large.root.addEventListener("contextmenu", event => event.preventDefault());
large.root.addEventListener("wheel", event => {
  const notch = event.deltaY < 0 ? 8 : 16;
  point(event, mask | notch);
  point(event, mask);
});
get("take").hidden = !modes.includes("act");
addEventListener("resize", arrange);
connect();
