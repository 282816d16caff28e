"""The script of a picture of frames: tooltips, zoom, search; it contains no data of the trace."""

STYLE = """
.frame { cursor: pointer }
.frame:hover rect { stroke: #000; stroke-width: 1 }
.frame.above { opacity: 0.5 }
.frame.found rect { fill: #c832e6 }
.button { cursor: pointer; text-decoration: underline }
.search { width: 170px }
.hidden { display: none }
"""

SCRIPT = """
"use strict";
(function (script) {
  const picture = (script && script.ownerSVGElement) || document.documentElement;
  const one = (name) => picture.querySelector("." + name);
  const number = (node, name) => parseFloat(node.getAttribute(name));
  const frames = Array.from(picture.querySelectorAll(".frame"), (node) => {
    const box = node.querySelector("rect");
    const told = node.querySelector("title").textContent;
    return {
      node, box, told, label: node.querySelector("text"),
      name: told.slice(0, told.lastIndexOf(" (")),
      x: number(box, "x"), width: number(box, "width"), depth: number(node, "data-depth"),
    };
  });
  const by = new Map(frames.map((frame) => [frame.node, frame]));
  const [left, whole, letter] = ["data-left", "data-width", "data-letter"].map((name) => number(picture, name));
  const [told, matched, reset, box] = ["told", "matched", "reset", "search"].map(one);
  const SLACK = 0.0005;

  function label(frame, x, width) {
    frame.box.setAttribute("x", x);
    frame.box.setAttribute("width", width);
    const room = Math.floor((width - 4) / letter);
    const letters = Array.from(frame.name);
    const text = letters.length <= room ? frame.name : room < 3 ? "" : letters.slice(0, room - 2).join("") + "..";
    if (!frame.label) {
      if (!text) return;
      frame.label = document.createElementNS("http://www.w3.org/2000/svg", "text");
      frame.label.setAttribute("y", number(frame.box, "y") + 12);
      frame.node.appendChild(frame.label);
    }
    frame.label.setAttribute("x", x + 2);
    frame.label.textContent = text;
  }

  function zoom(target) {
    const [first, last] = target ? [target.x, target.x + target.width] : [left, left + whole];
    for (const frame of frames) {
      const end = frame.x + frame.width;
      const within = frame.x >= first - SLACK && end <= last + SLACK && (!target || frame.depth >= target.depth);
      const above = Boolean(target) && frame.depth < target.depth && frame.x <= first + SLACK && end >= last - SLACK;
      frame.node.classList.toggle("hidden", !within && !above);
      frame.node.classList.toggle("above", above);
      if (above) label(frame, left, whole);
      if (within) label(frame, left + (frame.x - first) * whole / (last - first), frame.width * whole / (last - first));
    }
    reset.classList.toggle("hidden", !target || target.width >= whole - SLACK);
  }

  function search(words) {
    let fits = (name) => name.toLowerCase().includes(words.toLowerCase());
    try {
      const pattern = new RegExp(words, "i");
      fits = (name) => pattern.test(name);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    const found = frames.filter((frame) => {
      const yes = words !== "" && frame.depth >= 0 && fits(frame.name);
      frame.node.classList.toggle("found", yes);
      return yes;
    });
    let [sum, end] = [0, -Infinity];
    for (const frame of found.sort((a, b) => a.x - b.x || b.width - a.width)) {
      if (frame.x < end - SLACK) continue;
      sum += frame.width;
      end = frame.x + frame.width;
    }
    matched.textContent = words === "" ? "" : found.length + " found, " + (100 * sum / whole).toFixed(2) + " %";
  }

  const of = (event) => by.get(event.target.closest(".frame"));
  picture.addEventListener("mouseover", (event) => { told.textContent = of(event) ? of(event).told : ""; });
  picture.addEventListener("click", (event) => { if (of(event)) zoom(of(event)); });
  reset.addEventListener("click", () => zoom(null));
  if (box) box.addEventListener("input", () => search(box.value));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") zoom(null); });
  one("live").classList.remove("hidden");
})(document.currentScript);
"""
