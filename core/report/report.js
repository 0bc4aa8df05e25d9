const darkens = matchMedia("(prefers-color-scheme: dark)");
const saving = {modeBarButtons: [["toImage"]], toImageButtonOptions: {format: "svg"}};
const config = {responsive: true, displaylogo: false, ...saving};
const places = [...document.querySelectorAll("[data-figure]")];
const atItsEnd = document.querySelector("footer details");
const drawn = new Map();  // by place, whether what is drawn there is dark
function draw(place, isDark, width) {
  const figure = figureFrom(document.getElementById(place.dataset.figure), isDark, width ?? place.clientWidth);
  Plotly.react(place, figure.data, {...figure.layout, width}, config);
  drawn.set(place, isDark);
}
const isUnfolded = (place) => !place.closest("details:not([open])");
function drawSeen() {  // what is folded waits until somebody wants it
  places.filter((place) => isUnfolded(place) && drawn.get(place) !== darkens.matches)
    .forEach((place) => draw(place, darkens.matches));
}
function listen() {  // from when the library is there: an open fold says so while the page is read, before it is
  addEventListener("beforeprint", () => {  // paper is light, has what is unfolded, and always what the answer rests on
    atItsEnd?.setAttribute("open", "");
    places.filter(isUnfolded).forEach((place) => draw(place, false, 640));
  });
  addEventListener("afterprint", () => {
    drawn.clear();
    drawSeen();
  });
  document.querySelectorAll("details").forEach((fold) => fold.addEventListener("toggle", drawSeen));
  darkens.addEventListener("change", drawSeen);
  drawSeen();
}
(places.length ? unpack(document.getElementById("library").textContent) : Promise.resolve()).then(listen);
