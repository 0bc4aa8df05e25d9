"use strict";
const saving = {modeBarButtons: [["toImage"]], toImageButtonOptions: {format: "svg"}};
const config = {responsive: true, displaylogo: false, ...saving};
const drawn = [];
for (const place of document.querySelectorAll("[data-figure]")) {
  const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  Plotly.newPlot(place, figure.data, figure.layout, config);
  drawn.push(place);
}
addEventListener("beforeprint", () => drawn.forEach((place) => Plotly.relayout(place, {width: 640})));
addEventListener("afterprint", () => drawn.forEach((place) => Plotly.relayout(place, {width: null, autosize: true})));
