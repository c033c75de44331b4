// SPDX-License-Identifier: MIT
// Adds sorting, filtering and copying to a page that reads complete without them.
"use strict";
(() => {
  document.documentElement.classList.add("complete");

  // The details of very many cases stand as text until one is opened.
  function unpack(one) {
    const text = one.querySelector(':scope > script[type="text/html"]');
    if (text) text.outerHTML = text.textContent;
  }

  // --- table ------------------------------------------------------------------------------------------------
  const table = document.getElementById("case-table");
  const body = table.tBodies[0];

  function keyOf(row, column, kind) {
    const cell = row.cells[column];
    if (!cell || cell.colSpan > 1) return null;
    if (kind !== "number") return cell.textContent.trim();
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  }

  // Cases without the number stay last in both directions.
  function compare(a, b, direction) {
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  }

  function sortBy(head, column) {
    const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const keyed = [...body.rows].map((row) => [keyOf(row, column, head.dataset.sort), row]);
    body.append(...keyed.sort((a, b) => compare(a[0], b[0], direction)).map(([, row]) => row));
  }

  function addSorting() {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => sortBy(head, column));
      head.replaceChildren(button);
    });
  }

  function filterRows(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of body.rows) {
      row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      count += row.hidden ? 0 : 1;
    }
    document.getElementById("status").textContent = words.length ? `${count} of ${body.rows.length} cases` : "";
  }

  function tableText() {
    const lines = [...table.rows].filter((row) => !row.hidden);
    return lines.map((row) => [...row.cells].map((cell) => cell.textContent.trim().replace(/\s+/g, " ")).join("\t")).join("\n");
  }

  async function copyTable() {
    const status = document.getElementById("status");
    try {
      await navigator.clipboard.writeText(tableText());
      status.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(table);
      status.textContent = "selected; press Ctrl+C";
    }
  }

  // --- wiring -----------------------------------------------------------------------------------------------
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (!fold) return;
    fold.open = true;
    target.scrollIntoView();
    if (fold === target) target.querySelector("summary").focus({ preventScroll: true });
  }

  function openFromRow(event) {
    const link = event.target.closest("tr")?.querySelector("a");
    if (!link || event.target.closest("a") || getSelection().toString()) return;
    if (location.hash === link.getAttribute("href")) openTarget();
    else location.hash = link.getAttribute("href");
  }

  function start() {
    addSorting();
    document.querySelector(".tools").hidden = false;
    document.getElementById("filter").addEventListener("input", (event) => filterRows(event.target.value));
    document.getElementById("copy").addEventListener("click", copyTable);
    body.addEventListener("click", openFromRow);
    for (const link of body.querySelectorAll("a")) link.addEventListener("click", () => location.hash === link.getAttribute("href") && openTarget());
    for (const one of document.querySelectorAll("details.case")) one.addEventListener("toggle", () => unpack(one));
    addEventListener("hashchange", openTarget);
    openTarget();
  }
  start();
})();
