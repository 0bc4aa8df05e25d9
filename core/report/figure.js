"use strict";
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}
function figureFrom(element, isDark, width) {
  const figure = JSON.parse(element.textContent);
  for (const axis of Object.keys(figure.layout).filter((name) => name.startsWith("xaxis"))) {
    const title = figure.layout[axis].title;
    if (title?.text) title.text = inLines(title.text, width / 9);
  }
  for (const [path, value] of isDark ? figure.dark : []) {
    const last = path.pop();
    path.reduce((at, key) => at[key], figure)[last] = value;
  }
  return figure;
}
function inLines(text, most) {  // letters of a line, about
  const space = text.lastIndexOf(" ", most);
  return text.length <= most || space < 1 ? text : text.slice(0, space) + "<br>" + inLines(text.slice(space + 1), most);
}
