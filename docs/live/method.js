/* A planar arm that takes the updates of a method, one after the other, towards a target that one drags. */
"use strict";
(() => {
  const UPDATES = 20; // a second
  const KEPT = 60; // updates that leave a trace
  const DIGITS = 12; // of the error's curve, from 1 m on down
  const DONE = 1e-12; // [m]

  /** Show a method in an element: `page` has files of Trackers, packed together, and where each of them ends, one for
      each choice of its settings, which are `sliders`, each a name and the texts of its values, the first the slowest. */
  poise.method = async (element, page) => {
    const library = await poise.library();
    const packed = Uint8Array.from(atob(page.files), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const files = new Uint8Array(await new Response(stream).arrayBuffer());
    const loaded = new Map();
    const chosen = page.sliders.map((slider) => slider.at);
    const solver = () => {
      const which = page.sliders.reduce((all, slider, i) => all * slider.values.length + chosen[i], 0);
      if (!loaded.has(which))
        loaded.set(which, library.solver(files.subarray(page.ends[which], page.ends[which + 1])));
      return loaded.get(which);
    };
    const canvas = element.appendChild(document.createElement("canvas"));
    const controls = element.appendChild(document.createElement("div"));
    page.sliders.forEach((slider, i) => {
      const label = controls.appendChild(document.createElement("label"));
      const text = label.appendChild(document.createElement("span"));
      const input = label.appendChild(document.createElement("input"));
      Object.assign(input, { type: "range", min: 0, max: slider.values.length - 1, step: 1, value: slider.at });
      input.setAttribute("aria-label", slider.name);
      const say = () => (text.textContent = `${slider.name}: ${slider.values[chosen[i]]}`);
      input.addEventListener("input", () => {
        chosen[i] = Number(input.value);
        say();
        begin();
      });
      say();
    });
    const again = controls.appendChild(document.createElement("button"));
    again.textContent = "again";
    again.addEventListener("click", () => begin());
    const told = controls.appendChild(document.createElement("output"));

    const state = { q: null, target: page.target, tips: [], arms: [], errors: [], held: false, last: 0, frames: 0 };
    element.live = state;

    function begin() {
      solver().reset();
      Object.assign(state, { q: Float64Array.from(page.start), tips: [], arms: [], errors: [] });
      note();
    }

    /** What the arm looks like now. */
    function note() {
      const poses = solver().poses(state.q);
      const points = page.frames.map((name) => {
        const at = 7 * solver().frames.indexOf(name);
        return [poses[at], poses[at + 1]];
      });
      const tip = points[points.length - 1];
      state.arms.push(points);
      state.tips.push(tip);
      state.errors.push(Math.hypot(tip[0] - state.target[0], tip[1] - state.target[1]));
      for (const some of [state.arms, state.tips]) if (some.length > KEPT) some.shift();
      told.textContent = `${state.errors.length - 1} updates, ${state.errors[state.errors.length - 1].toExponential(1)} m left`;
    }

    function update() {
      if (state.errors[state.errors.length - 1] < DONE || state.errors.length > 400) return;
      const targets = new Float64Array(7);
      targets.set([state.target[0], state.target[1], 0, 1]);
      state.q = solver().step(state.q, targets);
      note();
    }

    function draw() {
      const sharp = Math.min(window.devicePixelRatio || 1, 2);
      const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
      if (canvas.width !== Math.round(sharp * wide)) Object.assign(canvas, { width: sharp * wide, height: sharp * high });
      const pen = canvas.getContext("2d");
      pen.setTransform(sharp, 0, 0, sharp, 0, 0);
      pen.clearRect(0, 0, wide, high);
      const ink = getComputedStyle(canvas).color; // that of the page's text
      const { scale, x, y } = view();
      const line = (points, width, colour) => {
        pen.beginPath();
        points.forEach(([px, py], i) => pen[i ? "lineTo" : "moveTo"](x + scale * px, y - scale * py));
        Object.assign(pen, { lineWidth: width, strokeStyle: colour, lineJoin: "round", lineCap: "round" });
        pen.stroke();
      };
      const dot = ([px, py], radius, colour) => {
        pen.beginPath();
        pen.arc(x + scale * px, y - scale * py, radius, 0, 2 * Math.PI);
        pen.fillStyle = colour;
        pen.fill();
      };
      pen.globalAlpha = 0.25;
      pen.beginPath();
      pen.arc(x, y, scale * page.reach, 0, 2 * Math.PI);
      Object.assign(pen, { lineWidth: 1, strokeStyle: ink });
      pen.stroke();
      state.arms.forEach((points, i) => {
        pen.globalAlpha = (0.22 * (i + 1)) / state.arms.length;
        line(points, 2, "#4878c8");
      });
      pen.globalAlpha = 1;
      line(state.tips, 1.5, "#e2562d");
      state.tips.forEach((tip) => dot(tip, 2.2, "#e2562d"));
      line(state.arms[state.arms.length - 1], 7, ink);
      state.arms[state.arms.length - 1].slice(0, -1).forEach((joint) => dot(joint, 5, "#e2a234"));
      dot(state.target, 8, "rgba(46,115,242,0.9)");
      curve(pen, wide, high, ink);
    }

    /** The error after each update, a line for each digit. */
    function curve(pen, wide, high, ink) {
      const [w, h, left, top] = [Math.min(0.34 * wide, 190), 0.3 * high, 10, 10];
      const count = Math.max(state.errors.length, 20);
      pen.globalAlpha = 0.8;
      Object.assign(pen, { fillStyle: ink, font: "11px sans-serif", lineWidth: 1, strokeStyle: ink });
      pen.fillText("error [m], each update", left + 4, top + h + 14);
      pen.strokeRect(left, top, w, h);
      for (let digit = 0; digit <= DIGITS; digit += 4) {
        pen.globalAlpha = 0.5;
        pen.fillText(digit ? `1e-${digit}` : "1", left + w + 4, top + (h * (digit + 0.6)) / (DIGITS + 1));
      }
      pen.globalAlpha = 1;
      pen.beginPath();
      state.errors.forEach((error, i) => {
        const down = Math.max(0, Math.min(DIGITS, -Math.log10(Math.max(error, 1e-300))));
        pen[i ? "lineTo" : "moveTo"](left + (w * i) / count, top + (h * down) / DIGITS);
      });
      Object.assign(pen, { strokeStyle: "#e2562d", lineWidth: 2 });
      pen.stroke();
    }

    function view() {
      const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
      return { scale: Math.min(wide, high) / (2.2 * page.reach), x: wide / 2, y: high / 2 };
    }

    const at = (event) => {
      const { scale, x, y } = view();
      return [(event.offsetX - x) / scale, (y - event.offsetY) / scale];
    };
    canvas.style.touchAction = "none";
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      state.held = true;
      state.target = at(event);
      Object.assign(state, { tips: state.tips.slice(-1), arms: state.arms.slice(-1), errors: [] });
      note();
    });
    canvas.addEventListener("pointermove", (event) => {
      if (state.held) state.target = at(event);
    });
    const up = () => (state.held = false);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    let seen = true;
    new IntersectionObserver(([entry]) => (seen = entry.isIntersecting)).observe(canvas);
    const next = (time) => {
      requestAnimationFrame(next);
      if (!seen) return;
      if (time - state.last > 1000 / UPDATES) {
        state.last = time;
        update();
      }
      draw();
      state.frames++;
    };
    begin();
    requestAnimationFrame(next);
  };
})();
