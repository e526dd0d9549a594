/* A robot in a page that follows what one drags: drawn with WebGL, solved here, with no server and nothing else. */

/* Column by column, as WebGL takes them. */
function product(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const z = 1 / (near - far);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) * z, -1, 0, 0, 2 * far * near * z, 0]);
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / Math.hypot(...a));
const plus = (a, b, by = 1) => a.map((x, i) => x + by * b[i]);

/** The matrix of a pose, place and quaternion w x y z, of something that is `size` times as large. */
function placed([px, py, pz, w, x, y, z], size = 1) {
  return new Float32Array([
    size * (1 - 2 * (y * y + z * z)), size * 2 * (x * y + w * z), size * 2 * (x * z - w * y), 0,
    size * 2 * (x * y - w * z), size * (1 - 2 * (x * x + z * z)), size * 2 * (y * z + w * x), 0,
    size * 2 * (x * z + w * y), size * 2 * (y * z - w * x), size * (1 - 2 * (x * x + y * y)), 0,
    px, py, pz, 1,
  ]);
}

/** A camera that goes round a point, z up. */
class Camera {
  constructor(centre, distance) {
    Object.assign(this, { centre, distance, turn: 0.9, lift: 0.35, angle: 0.7 });
  }

  get back() {
    const { turn, lift } = this;
    return [Math.cos(lift) * Math.cos(turn), Math.cos(lift) * Math.sin(turn), Math.sin(lift)];
  }

  /* Right, up and back, in the world. */
  get axes() {
    const back = this.back;
    const right = unit(cross([0, 0, 1], back));
    return [right, cross(back, right), back];
  }

  get eye() {
    return plus(this.centre, this.back, this.distance);
  }

  matrix(aspect) {
    const [right, up, back] = this.axes;
    const eye = this.eye;
    const view = new Float32Array([
      right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
    ]);
    return product(perspective(this.angle, aspect, 0.02 * this.distance, 20 * this.distance), view);
  }

  orbit(dx, dy) {
    this.turn -= dx;
    this.lift = Math.max(-1.5, Math.min(1.5, this.lift + dy));
  }

  zoom(by, least, most) {
    this.distance = Math.max(least, Math.min(most, this.distance * by));
  }
}

const VERTEX = `
attribute vec3 place, normal; attribute vec4 colour;
uniform mat4 view, pose; varying vec3 facing; varying vec4 paint;
void main() { facing = mat3(pose) * normal; paint = colour; gl_Position = view * pose * vec4(place, 1.0); }`;
const FRAGMENT = `
precision mediump float; varying vec3 facing; varying vec4 paint; uniform vec4 tint;
void main() {
  vec3 n = normalize(facing);
  float light = 0.55 + 0.3 * max(dot(n, normalize(vec3(0.4, 0.3, 0.85))), 0.0) + 0.15 * max(dot(n, vec3(-0.6, -0.5, 0.2)), 0.0);
  vec4 seen = mix(paint, vec4(tint.rgb, 1.0), tint.a);
  gl_FragColor = vec4(seen.rgb * light, seen.a);
}`;

/** Surfaces of triangles, and lines, on a canvas. */
class Painter {
  constructor(canvas) {
    const gl = canvas.getContext("webgl", { antialias: true, alpha: true, premultipliedAlpha: false });
    if (!gl) throw new Error("this browser has no WebGL");
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    Object.assign(this, { canvas, gl, program });
    this.at = Object.fromEntries(["place", "normal", "colour"].map((name) => [name, gl.getAttribLocation(program, name)]));
    this.is = Object.fromEntries(["view", "pose", "tint"].map((name) => [name, gl.getUniformLocation(program, name)]));
    Object.values(this.at).forEach((at) => gl.enableVertexAttribArray(at));
  }

  /** Triangles, each with a normal of its own; vertices (n, 3), faces (m, 3), colours (n, 4) in 0 to 255. */
  surface({ vertices, faces, colours }) {
    const numbers = new Float32Array(10 * faces.length);
    for (let k = 0; k < faces.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((i) => vertices.subarray(3 * faces[k + i], 3 * faces[k + i] + 3));
      const across = cross(plus([...b], a, -1), plus([...c], a, -1));
      const long = Math.hypot(...across) || 1;
      for (let i = 0; i < 3; i++) {
        const v = faces[k + i];
        numbers.set([a, b, c][i], 10 * (k + i));
        numbers.set(across.map((x) => x / long), 10 * (k + i) + 3);
        for (let j = 0; j < 4; j++) numbers[10 * (k + i) + 6 + j] = colours[4 * v + j] / 255;
      }
    }
    return this.kept(numbers, this.gl.TRIANGLES);
  }

  kept(numbers, mode) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, numbers, this.gl.STATIC_DRAW);
    return { buffer, mode, count: numbers.length / 10 };
  }

  clear(view) {
    const { gl, canvas } = this;
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    const [wide, high] = [Math.round(sharp * canvas.clientWidth), Math.round(sharp * canvas.clientHeight)];
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    gl.viewport(0, 0, wide, high);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(this.is.view, false, view);
  }

  draw({ buffer, mode, count }, pose, tint = [0, 0, 0, 0]) {
    const { gl, at, is } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.vertexAttribPointer(at.place, 3, gl.FLOAT, false, 40, 0);
    gl.vertexAttribPointer(at.normal, 3, gl.FLOAT, false, 40, 12);
    gl.vertexAttribPointer(at.colour, 4, gl.FLOAT, false, 40, 24);
    gl.uniformMatrix4fv(is.pose, false, pose);
    gl.uniform4fv(is.tint, tint);
    gl.drawArrays(mode, 0, count);
  }
}

/** A ball of radius 1. */
function ball(steps = 16) {
  const vertices = [];
  const faces = [];
  for (let i = 0; i <= steps; i++)
    for (let j = 0; j <= steps; j++) {
      const [lift, turn] = [Math.PI * (i / steps - 0.5), (2 * Math.PI * j) / steps];
      vertices.push(Math.cos(lift) * Math.cos(turn), Math.cos(lift) * Math.sin(turn), Math.sin(lift));
      const at = i * (steps + 1) + j;
      if (i < steps && j < steps) faces.push(at, at + 1, at + steps + 2, at, at + steps + 2, at + steps + 1);
    }
  const colours = new Uint8Array((4 * vertices.length) / 3).fill(255);
  return { vertices: new Float32Array(vertices), faces: new Uint32Array(faces), colours };
}

/** Lines on the ground, a step apart. */
function grid(half, step) {
  const numbers = [];
  const count = Math.round(half / step);
  for (let i = -count; i <= count; i++)
    for (const [x0, y0, x1, y1] of [[i * step, -half, i * step, half], [-half, i * step, half, i * step]])
      for (const [x, y] of [[x0, y0], [x1, y1]]) numbers.push(x, y, 0, 0, 0, 1, 0.55, 0.58, 0.62, 0.45);
  return new Float32Array(numbers);
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const HANDLE = [0.18, 0.45, 0.95, 1];
const LATE = [0.9, 0.25, 0.2, 1];
const BEHIND = 4; // steps, at most, that are made up for in one picture; a page that cannot keep up moves more slowly
const STILL = 1e-6; // [rad or m] a step that changes no joint by more than this has come to rest

/** A robot on a canvas, with a handle for each task that has a place.

    `robot` has the bytes of a Tracker's `file`, as base64; `parts`, each with the name of its frame, and vertices, faces
    and colours, as base64; `size` [m], where the camera looks, `centre`; `handles`, the frames that are led; `start`, its q;
    and `dt`, the seconds of a step, which it takes whatever the rate of the screen. */
export class Stage {
  constructor(canvas, poise, robot) {
    const solver = poise.solver(bytesOf(robot.file));
    const painter = new Painter(canvas);
    const parts = robot.parts.map(({ frame, vertices, faces, colours }) => ({
      frame: solver.frames.indexOf(frame),
      surface: painter.surface({
        vertices: new Float32Array(bytesOf(vertices).buffer),
        faces: new Uint32Array(bytesOf(faces).buffer),
        colours: bytesOf(colours),
      }),
    }));
    Object.assign(this, { canvas, solver, painter, parts, robot, frames: 0, held: null, q: Float64Array.from(robot.start) });
    this.ball = painter.surface(ball());
    this.grid = painter.kept(grid(1.5 * robot.size, robot.size / 8), painter.gl.LINES);
    this.camera = new Camera(robot.centre, 1.9 * robot.size);
    this.targets = solver.targets.slice();
    robot.handles.forEach((frame, i) => this.targets.set(solver.pose(frame, this.q), 7 * i));
    if (solver.posture) this.targets.set(this.q, 7 * solver.tasks.length);
    this.resting = false;
    this.seen = true;
    this.listen();
    let last = null;
    let due = 0;
    const again = (now) => {
      requestAnimationFrame(again);
      due = Math.min(due + (now - (last ?? now)) / 1000, BEHIND * robot.dt);
      last = now;
      if (!this.seen) return;
      for (; due >= robot.dt; due -= robot.dt) this.next();
      this.draw();
    };
    requestAnimationFrame(again);
  }

  /** Take a step towards the targets. */
  next() {
    if (this.resting && this.held === null) return;
    const before = this.q;
    this.q = this.solver.step(before, this.targets);
    this.resting = this.q.every((x, i) => Math.abs(x - before[i]) < STILL);
  }

  draw() {
    const poses = this.solver.poses(this.q);
    const pose = (i) => poses.subarray(7 * i, 7 * i + 7);
    const { canvas, painter, robot } = this;
    painter.clear(this.camera.matrix(canvas.clientWidth / Math.max(canvas.clientHeight, 1)));
    painter.draw(this.grid, placed([0, 0, 0, 1, 0, 0, 0]));
    for (const part of this.parts) painter.draw(part.surface, placed(pose(part.frame)));
    painter.gl.disable(painter.gl.DEPTH_TEST); // a handle within a hand is seen, too
    robot.handles.forEach((frame, i) => {
      const at = this.place(i);
      const led = pose(this.solver.frames.indexOf(frame));
      const far = Math.hypot(at[0] - led[0], at[1] - led[1], at[2] - led[2]) > 0.01 * robot.size;
      painter.draw(this.ball, placed([...at, 1, 0, 0, 0], 0.02 * robot.size), far ? LATE : HANDLE);
    });
    painter.gl.enable(painter.gl.DEPTH_TEST);
    this.frames++;
  }

  /** Where a handle is (3) [m]. */
  place(i) {
    return [...this.targets.subarray(7 * i, 7 * i + 3)];
  }

  /** Where a point of the world is on the canvas [pixels]. */
  seenAt(point) {
    const [right, up, back] = this.camera.axes;
    const from = plus(point, this.camera.eye, -1);
    const scale = this.canvas.clientHeight / (2 * Math.tan(this.camera.angle / 2) * -dot(from, back));
    return [this.canvas.clientWidth / 2 + scale * dot(from, right), this.canvas.clientHeight / 2 - scale * dot(from, up)];
  }

  /** Drag a handle by so many pixels, in the plane that faces the camera. */
  drag(i, dx, dy) {
    const [right, up, back] = this.camera.axes;
    const at = this.place(i);
    const deep = -dot(plus(at, this.camera.eye, -1), back);
    const metres = (2 * Math.tan(this.camera.angle / 2) * deep) / this.canvas.clientHeight;
    this.targets.set(plus(plus(at, right, metres * dx), up, -metres * dy), 7 * i);
    this.resting = false;
  }

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    const near = (x, y, within) => {
      const away = this.robot.handles.map((_, i) => {
        const [px, py] = this.seenAt(this.place(i));
        return Math.hypot(px - x, py - y);
      });
      const least = Math.min(...away);
      return least < within ? away.indexOf(least) : null;
    };
    canvas.style.touchAction = "none";
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      if (fingers.size === 1) this.held = near(event.offsetX, event.offsetY, event.pointerType === "touch" ? 40 : 20);
      else this.held = null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) {
        canvas.style.cursor = near(event.offsetX, event.offsetY, 20) === null ? "grab" : "pointer";
        return;
      }
      const [dx, dy] = [event.offsetX - last[0], event.offsetY - last[1]];
      const spread = () => {
        const [a, b] = [...fingers.values()];
        return Math.hypot(a[0] - b[0], a[1] - b[1]);
      };
      const before = fingers.size === 2 ? spread() : 0;
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      if (fingers.size === 2) this.zoom(before / Math.max(spread(), 1));
      else if (this.held !== null) this.drag(this.held, dx, dy);
      else this.camera.orbit(0.008 * dx, 0.008 * dy);
    });
    const up = (event) => {
      fingers.delete(event.pointerId);
      this.held = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(0.001 * event.deltaY));
      },
      { passive: false },
    );
    if (typeof IntersectionObserver !== "undefined")
      new IntersectionObserver(([entry]) => (this.seen = entry.isIntersecting)).observe(canvas);
  }

  zoom(by) {
    this.camera.zoom(by, 0.5 * this.robot.size, 6 * this.robot.size);
  }
}
