"use strict";
// Tells what is held down in this window: keys, and the sticks and buttons of the first gamepad (see held.py).
(() => {
  const REPEAT = 500; // [ms] while anything is held
  const SHORTEST = 1000 / 60; // [ms] between two looks at the gamepad
  const REST = '{"keys":[],"axes":[],"buttons":[]}';

  const keys = new Set();
  let claimed = new Set();
  let pad = { axes: [], buttons: [] };
  let socket = null;
  let told = REST;

  const everything = () => JSON.stringify({ keys: [...keys].sort().slice(0, 32), ...pad });
  const atRest = () => keys.size === 0 && !pad.axes.some((x) => x !== 0) && !pad.buttons.some((down) => down);

  function tell(again = false) {
    const now = everything();
    if (socket?.readyState !== WebSocket.OPEN || (now === told && !again)) return;
    socket.send(now);
    told = now;
  }

  function connect() {
    socket = new WebSocket(`${location.origin.replace("http", "ws")}/`, ["poise-held"]);
    socket.onopen = () => {
      told = REST;
      tell();
    };
    socket.onmessage = (event) => {
      claimed = new Set(JSON.parse(event.data));
    };
    socket.onclose = () => setTimeout(connect, 1000);
  }

  // Keys that are typed, or that move a slider, are meant for that; so are those that press a button.
  const FIELDS = 'input, textarea, select, [contenteditable], [role="slider"], [role="textbox"]';
  function meantForTheField(event) {
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest(FIELDS)) return true;
    return (event.code === "Space" || event.code === "Enter") && target.closest("button, a, summary") !== null;
  }

  function release() {
    keys.clear();
    pad = { axes: [], buttons: [] };
    tell();
  }

  function down(event) {
    // With one of these, a key is a shortcut of the browser, and its way up may never be told.
    if (event.ctrlKey || event.metaKey || event.altKey) return release();
    if (meantForTheField(event) || !/^[A-Za-z0-9]{1,32}$/.test(event.code)) return;
    if (claimed.has(event.code)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    keys.add(event.code);
    tell();
  }

  function up(event) {
    if (keys.delete(event.code)) tell();
  }

  let last = -Infinity;
  function look(time) {
    requestAnimationFrame(look);
    if (time - last < SHORTEST - 1 || !document.hasFocus()) return;
    last = time;
    const first = [...(navigator.getGamepads?.() ?? [])].find((one) => one?.connected);
    pad = {
      axes: (first?.axes ?? []).slice(0, 16).map((x) => (Number.isFinite(x) ? Math.round(x * 1000) / 1000 + 0 : 0)),
      buttons: (first?.buttons ?? []).slice(0, 64).map((button) => button.pressed),
    };
    tell();
  }

  // Before all others, so that a claimed key does not reach them.
  window.addEventListener("keydown", down, { capture: true });
  window.addEventListener("keyup", up, { capture: true });
  window.addEventListener("blur", release);
  window.addEventListener("pagehide", release);
  document.addEventListener("visibilitychange", () => document.hidden && release());
  setInterval(() => atRest() || tell(true), REPEAT);
  requestAnimationFrame(look);
  connect();
})();
