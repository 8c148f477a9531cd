// The panel with both versions, folding, and the keyboard. Elements are made from
// text only; nothing here ever parses markup.
(() => {
  "use strict";
  const page = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const tree = document.getElementById("tree");
  const detail = document.getElementById("detail");
  const help = document.getElementById("help");
  page.classList.replace("no-js", "js");

  // An element with a class and children; strings become text.
  const make = (name, className, ...children) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...children);
    return element;
  };

  // ---- theme: as the system has it, or one of two

  const themes = ["", "light", "dark"];
  const setTheme = (theme) => {
    if (theme) page.dataset.theme = theme;
    else delete page.dataset.theme;
    document.getElementById("theme").textContent = theme === "" ? "Theme" : theme === "light" ? "Light" : "Dark";
  };
  const remembered = () => {
    // Pages opened from a file may not be allowed to remember anything.
    try { return localStorage.getItem("relapse-theme") || ""; } catch { return ""; }
  };
  const nextTheme = () => {
    const theme = themes[(themes.indexOf(page.dataset.theme || "") + 1) % themes.length];
    setTheme(theme);
    try { localStorage.setItem("relapse-theme", theme); } catch { /* not remembered, then */ }
  };

  // ---- what the address asks for: #node=3&theme=dark

  const wish = () => new URLSearchParams(location.hash.slice(1));

  document.querySelector(".tools").hidden = false;
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("help-open").addEventListener("click", () => help.showModal());
  setTheme(themes.includes(wish().get("theme")) ? wish().get("theme") : remembered());

  if (!tree || !data) return;

  // ---- the rows

  const rows = [...tree.querySelectorAll(".row")];
  const nodeRows = data.nodes.map((_, index) => document.getElementById(`node-${index}`));
  const indexOf = new Map(nodeRows.map((row, index) => [row, index]));
  const byId = new Map(data.nodes.map((node, index) => [node.id, index]));
  const children = data.nodes.map(() => []);
  data.nodes.forEach((node, index) => {
    if (node.parent !== undefined) children[node.parent].push(index);
  });
  const below = new Array(data.nodes.length).fill(0);
  for (let index = data.nodes.length - 1; index >= 0; index--) {
    const parent = data.nodes[index].parent;
    if (parent !== undefined) below[parent] += below[index] + 1;
  }
  const folded = new Set();
  let chosen = -1;
  let current = null;

  nodeRows.forEach((row, index) => {
    if (!children[index].length) return;
    row.dataset.expanded = "true";
    row.querySelector(".head").dataset.folded = `${below[index]} folded`;
  });

  const showFolds = () => {
    // Effects are numbered before their causes, so one pass is enough.
    const away = new Array(data.nodes.length).fill(false);
    data.nodes.forEach((node, index) => {
      const parent = node.parent;
      away[index] = parent !== undefined && (away[parent] || folded.has(parent));
      nodeRows[index].hidden = away[index];
    });
    for (const row of rows) {
      if (!row.dataset.group) continue;
      const first = row.nextElementSibling;
      row.hidden = row.classList.contains("done") || (indexOf.has(first) && away[indexOf.get(first)]);
    }
  };
  const fold = (index, on) => {
    if (on) folded.add(index); else folded.delete(index);
    nodeRows[index].dataset.expanded = String(!on);
    showFolds();
  };
  const reveal = (group) => {
    for (const row of rows) {
      if (row.dataset.in === group) row.classList.add("open");
      if (row.dataset.group === group) row.classList.add("done");
    }
    showFolds();
  };
  const isShown = (row) => !row.hidden && (!row.classList.contains("far") || row.classList.contains("open"));

  const focus = (row, scroll = true) => {
    if (current) current.tabIndex = -1;
    current = row;
    row.tabIndex = 0;
    row.focus({ preventScroll: true });
    if (scroll) row.scrollIntoView({ block: "nearest" });
  };

  // ---- the panel

  const touched = (side, file, line) => data.changes.some((change) => {
    const [path, start, count] = change[side];
    return path === file && line >= start && line < start + count;
  });
  const source = (side, place) => {
    const box = make("div", "source");
    const part = (data[side][place.file] || []).find((part) => place.line >= part.start && place.line < part.start + part.lines.length);
    const [start, lines] = part
      ? [Math.max(part.start, place.line - 9), part.lines.slice(Math.max(0, place.line - 9 - part.start), place.line + 10 - part.start)]
      : [place.line, [place.text.trim()]];
    lines.forEach((text, offset) => {
      const line = start + offset;
      const row = make("div", "", make("span", "number", String(line || "")), make("span", "text", text || " "));
      if (line === place.line) row.classList.add("here");
      else if (touched(side, place.file, line)) row.classList.add("touched");
      box.append(row);
    });
    return box;
  };
  const versionOf = (side) => (side === "good" ? data.reference : side);
  const pane = (side, place) => {
    const head = make("p", "", make("b", side, versionOf(side)));
    const box = make("div", `pane ${side}`, head);
    if (place) {
      head.append(place.line ? `${place.file}:${place.line}` : place.file, place.function ? ` in ${place.function}` : "");
      box.append(source(side, place));
    } else {
      box.append(make("p", "none", `The ${versionOf(side)} version did not come to this moment.`));
    }
    return box;
  };
  const valueTable = (node) => {
    const body = make("tbody");
    const head = make("tr", "", make("th", "", "value"), make("th", "", `in ${data.reference}`), make("th", "", "in bad"));
    const nothing = (place) => (place ? "none" : "");
    for (const [name, good, bad] of node.values) {
      const cells = [name, good ?? nothing(node.good), bad ?? nothing(node.bad)].map((text) => make("td", "", text));
      body.append(make("tr", good === bad ? "same" : "differ", ...cells));
    }
    return make("table", "both-values", make("thead", "", head), body);
  };
  const showDetail = (index) => {
    const node = data.nodes[index];
    const close = make("button", "close", "Close");
    close.type = "button";
    close.addEventListener("click", closeSheet);
    const place = node.bad || node.good;
    const title = make("span", "", node.what || (place ? place.text.trim() : node.kind));
    if (node.change !== undefined) {
      const badge = make("a", "badge", `#${node.change}`);
      badge.href = `#change-${node.change}`;
      title.append(" ", badge);
    }
    detail.replaceChildren(make("h3", "", title, close));
    if (node.values.length) detail.append(valueTable(node));
    detail.append(make("div", "pair", pane("good", node.good), pane("bad", node.bad)));
    if (node.step !== undefined) detail.append(make("p", "hint", `Instruction ${node.step} of the recording`));
    detail.scrollTop = 0;
    for (const box of detail.querySelectorAll(".source")) {
      const here = box.querySelector(".here");
      if (here) box.scrollTop = here.offsetTop - box.clientHeight / 2;
    }
  };
  const narrow = () => matchMedia("(max-width: 860px)").matches;
  function closeSheet() {
    detail.classList.remove("sheet");
    if (current) focus(current);
  }

  const choose = (index, open) => {
    const row = nodeRows[index];
    if (row.dataset.in && !isShown(row)) reveal(row.dataset.in);
    for (let up = data.nodes[index].parent; up !== undefined; up = data.nodes[up].parent) {
      if (folded.has(up)) fold(up, false);
    }
    if (chosen >= 0) nodeRows[chosen].setAttribute("aria-selected", "false");
    chosen = index;
    row.setAttribute("aria-selected", "true");
    showDetail(index);
    if (open && narrow()) detail.classList.add("sheet");
  };

  // ---- mouse and keyboard

  const go = (row) => {
    if (!row) return;
    focus(row);
    if (indexOf.has(row)) choose(indexOf.get(row), false);
  };
  const neighbour = (direction) => {
    for (let at = rows.indexOf(current) + direction; at >= 0 && at < rows.length; at += direction) {
      if (isShown(rows[at])) return rows[at];
    }
    return null;
  };
  const activate = (row) => {
    if (row.dataset.group) {
      reveal(row.dataset.group);
      const first = rows.find((other) => other.dataset.in === row.dataset.group && isShown(other));
      go(first);
    } else {
      focus(row, false);
      choose(indexOf.get(row), true);
      history.replaceState(null, "", `#node=${data.nodes[chosen].id}`);
    }
  };
  tree.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row || event.target.closest("a")) return;
    const index = indexOf.get(row);
    // A click on the dot folds, anywhere else it chooses.
    if (event.target.closest(".dot") && children[index]?.length) fold(index, !folded.has(index));
    else activate(row);
  });

  const keys = {
    ArrowDown: () => go(neighbour(1)),
    ArrowUp: () => go(neighbour(-1)),
    Home: () => go(rows.find(isShown)),
    End: () => go(rows.findLast(isShown)),
    ArrowRight: () => {
      const index = indexOf.get(current);
      if (index === undefined) activate(current);
      else if (folded.has(index)) fold(index, false);
      else if (children[index].length) go(neighbour(-1));
    },
    ArrowLeft: () => {
      const index = indexOf.get(current);
      if (index === undefined) go(neighbour(1));
      else if (children[index].length && !folded.has(index)) fold(index, true);
      else {
        let up = data.nodes[index].parent;
        while (up !== undefined && !isShown(nodeRows[up])) up = data.nodes[up].parent;
        if (up !== undefined) go(nodeRows[up]);
      }
    },
    Enter: () => {
      activate(current);
      if (!narrow() && indexOf.has(current)) detail.focus({ preventScroll: true });
    },
    c: () => {
      const changed = rows.filter((row) => indexOf.has(row) && data.nodes[indexOf.get(row)].change !== undefined);
      const next = changed.find((row) => rows.indexOf(row) > rows.indexOf(current)) || changed[0];
      if (!next) return;
      choose(indexOf.get(next), false);
      focus(next);
    },
    t: nextTheme,
    "?": () => help.showModal(),
    Escape: closeSheet,
  };
  Object.assign(keys, { j: keys.ArrowDown, k: keys.ArrowUp, l: keys.ArrowRight, h: keys.ArrowLeft, " ": keys.Enter });
  const inTreeOnly = new Set(["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End", "Enter", " "]);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || help.open) return;
    // Outside the tree, arrows scroll and Enter presses, as everywhere.
    if (inTreeOnly.has(event.key) && !tree.contains(document.activeElement)) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  const follow = () => {
    const index = byId.get(Number(wish().get("node") ?? NaN));
    if (index === undefined) return false;
    choose(index, true);
    focus(nodeRows[index]);
    return true;
  };
  // What a link leads to may be folded.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", () => follow() || unfold());
  current = rows.find(isShown) || rows[0];
  if (current) current.tabIndex = 0;
  if (!follow()) {
    const first = rows.find((row) => indexOf.has(row) && isShown(row));
    if (first) choose(indexOf.get(first), false);
    unfold();
  }
})();
