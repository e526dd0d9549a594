/* The library within a page that brings it along as PACKED, compressed and as base64. */

let loaded = null;

/** The library, which is unpacked once. */
function library() {
  const packed = Uint8Array.from(atob(PACKED), (letter) => letter.charCodeAt(0));
  const unpacked = () => new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
  loaded ??= Poise.load(unpacked().arrayBuffer());
  return loaded;
}

/** A robot on a canvas; the promise of its Stage, which the canvas has as `stage`, too. */
async function show(canvas, robot) {
  canvas.stage = new Stage(canvas, await library(), robot);
  return canvas.stage;
}
