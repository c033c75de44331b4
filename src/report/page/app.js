// SPDX-License-Identifier: MIT
// Adds charts, sorting, filtering and copying to a page that reads complete without them.
"use strict";
(() => {
  document.documentElement.classList.add("complete");
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = () => innerWidth < 560;

  // Okabe and Ito's colours, lightened for a dark ground; told apart by eyes of all kinds.
  const palettes = {
    light: ["#0a5fb4", "#d55e00", "#008f6b", "#b0568f", "#a07800", "#3e9bd0", "#55606b"],
    dark: ["#6cb2f7", "#ff8a4c", "#35c79c", "#e29ac4", "#e5c04a", "#a6dcff", "#b4bcc4"],
  };
  const symbols = ["circle", "square", "diamond", "triangle-up", "x", "cross", "star"];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = () => (dark.matches ? palettes.dark : palettes.light);
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const distinct = (list) => [...new Set(list)];

  // --- charts -----------------------------------------------------------------------------------------------
  function layout(extra) {
    const axis = { gridcolor: style("--line"), linecolor: style("--line"), zerolinecolor: style("--line"), automargin: true, fixedrange: true };
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", showlegend: false,
      font: { color: style("--ink"), size: 12, family: getComputedStyle(document.body).fontFamily },
      margin: { l: 56, r: 16, t: 30, b: 44 }, hoverlabel: { align: "left" },
      legend: { orientation: "h", x: 0, y: -0.24, yanchor: "top", font: { size: 12 }, itemclick: false, itemdoubleclick: false },
      ...extra,
    };
    base.xaxis = { ...axis, ...extra.xaxis };
    base.yaxis = { ...axis, ...extra.yaxis };
    return base;
  }

  // Boxes first, pictures when all stand: a picture takes the width its box has at that moment.
  const pending = [];

  function draw(parent, traces, extra, label) {
    const box = document.createElement("div");
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", label);
    parent.append(box);
    pending.push([box, traces, layout(extra)]);
  }

  // Charts with a row or a line per case are for looking at; of very many cases they show the first, and the table has all.
  const MOST = 60;

  function firstOf(parent, cases) {
    if (cases.length <= MOST) return cases;
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = `The first ${MOST} of ${cases.length} cases are drawn; the table of cases has all.`;
    parent.append(note);
    return cases.slice(0, MOST);
  }

  // Half-widths of an interval [value, low, high]; a missing side draws no bar.
  function bars(intervals, colour) {
    const side = (i, sign) => intervals.map((v) => (v[i] === null ? 0 : sign * (v[i] - v[0])));
    return { type: "data", symmetric: false, array: side(2, 1), arrayminus: side(1, -1), color: colour, thickness: 1.6, width: 5 };
  }

  const shown = (value) => (value === null ? "none" : Number(value.toPrecision(3)).toString());
  const spanText = ([value, low, high], unit) => `${shown(value)} ${unit}` + (low === null || high === null ? ", no interval" : ` (${shown(low)}–${shown(high)})`);

  // One small chart a model; the same series keeps its colour and mark in all of them.
  function overBatch(parent, field, unit) {
    const names = distinct(data.cases.map((c) => c.series));
    for (const model of distinct(data.cases.map((c) => c.model))) {
      const cases = data.cases.filter((c) => c.model === model && c[field][0] !== null);
      if (cases.length === 0) continue;
      const batches = distinct(cases.map((c) => c.batch)).sort((a, b) => a - b);
      if (batches.length === 1) {
        barPerCase(parent, model, cases, field, unit);
        continue;
      }
      const every = Math.ceil(batches.length / MOST), marked = batches.map((_, i) => i).filter((i) => i % every === 0);
      const present = names.filter((n) => cases.some((c) => c.series === n));
      const traces = present.map((name, at) => seriesTrace(cases.filter((c) => c.series === name), name, names.indexOf(name), at - (present.length - 1) / 2, batches, field, unit));
      draw(parent, traces, {
        title: { text: escaped(model), font: { size: 13 }, x: 0, xref: "paper", xanchor: "left", y: 0.98 },
        showlegend: true, height: 330 + 20 * Math.ceil(present.length / 2),
        xaxis: { title: { text: "batch", standoff: 6 }, tickvals: marked, ticktext: marked.map((i) => String(batches[i])), range: [-0.5, batches.length - 0.5], zeroline: false, showgrid: false },
        yaxis: { title: { text: unit, standoff: 8 }, rangemode: "tozero" },
        margin: { l: 56, r: 16, t: 34, b: 70 },
      }, `${unit} over batch for ${model}: ${cases.map((c) => `${c.label} ${spanText(c[field], unit)}`).join("; ")}`);
    }
  }

  // At one batch size there is no line: a bar a case with its interval, and its figures beside it.
  function barPerCase(parent, model, all, field, unit) {
    const cases = firstOf(parent, all);
    const ends = cases.map((c) => c[field][2] ?? c[field][0]), ticks = cases.map((_, i) => i), texts = cases.map((c) => ` ${spanText(c[field], unit)}`);
    const room = 12 + 6.4 * Math.max(...texts.map((text) => text.length));  // the margin holds the text of the longest bar
    const bar = {
      type: "bar", orientation: "h", y: ticks, x: cases.map((c) => c[field][0]), width: 0.55, marker: { color: style("--accent"), opacity: 0.8 },
      error_x: bars(cases.map((c) => c[field]), style("--ink")), hovertext: cases.map((c) => `${escaped(c.label)}<br>${spanText(c[field], unit)}`), hoverinfo: "text",
    };
    const figures = { type: "scatter", mode: "text", y: ticks, x: ends, text: texts, textposition: "middle right", cliponaxis: false, hoverinfo: "skip" };
    draw(parent, [bar, figures], {
      title: { text: escaped(model), font: { size: 13 }, x: 0, xref: "paper", xanchor: "left", y: 0.98 },
      height: 96 + cases.length * (narrow() ? 42 : 32), xaxis: { title: { text: unit, standoff: 6 }, range: [0, Math.max(...ends)], zeroline: false, nticks: 6 },
      yaxis: { tickvals: ticks, ticktext: cases.map((c) => caseTick(c, model)), range: [cases.length - 0.5, -0.5], zeroline: false, showgrid: false },
      margin: { l: 10, r: room, t: 34, b: 44 },
    }, `${unit} of ${model}: ${cases.map((c) => `${c.label} ${spanText(c[field], unit)}`).join("; ")}`);
  }

  // The model stands above the chart.
  const caseTick = (c, model) => `${escaped(model ? c.label.replace(`${model} `, "") : c.label)}  `;

  // Batches stand at equal steps; series are set a little apart, so that intervals do not hide each other.
  function seriesTrace(cases, name, index, offset, batches, field, unit) {
    const colour = palette()[index % palette().length];
    const sorted = [...cases].sort((a, b) => a.batch - b.batch);
    return {
      type: "scatter", mode: sorted.length > 1 ? "lines+markers" : "markers", name: escaped(name),
      x: sorted.map((c) => batches.indexOf(c.batch) + offset * 0.05), y: sorted.map((c) => c[field][0]),
      error_y: bars(sorted.map((c) => c[field]), colour), line: { color: colour, width: 1.6 },
      marker: { color: colour, size: 8, symbol: symbols[index % symbols.length] },
      text: sorted.map((c) => `${escaped(c.label)}<br>${spanText(c[field], unit)}`), hoverinfo: "text",
    };
  }

  const rowLabel = (c) => {
    const text = escaped(c.label);
    return narrow() ? text.replace(" ", "<br>") : text;
  };

  // One row a case, first case on top.
  function rows(parent, all, traceOf, axis, extra, label) {
    if (all.length === 0) return;
    const cases = firstOf(parent, all);
    const ticks = cases.map((_, i) => i);
    draw(parent, [traceOf(cases, ticks)], {
      height: 70 + cases.length * (narrow() ? 40 : 27), xaxis: { zeroline: false, ...axis },
      yaxis: { tickvals: ticks, ticktext: cases.map((c) => rowLabel(c) + "  "), range: [cases.length - 0.5, -0.5], zeroline: false, showgrid: false, tickfont: { size: narrow() ? 11 : 12 } },
      margin: { l: 10, r: 20, t: 8, b: 44 }, ...extra,
    }, label);
  }

  function speedups(parent) {
    const accent = style("--accent"), soft = style("--soft");
    const cases = data.cases.filter((c) => c.speedup !== null);
    const trace = (list, y) => ({
      type: "scatter", mode: "markers", y, x: list.map((c) => c.speedup.ratio[0]),
      error_x: bars(list.map((c) => c.speedup.ratio), soft),
      marker: { size: 10, color: list.map((c) => (c.speedup.claimed ? accent : style("--panel"))), line: { width: 2, color: list.map((c) => (c.speedup.claimed ? accent : soft)) } },
      text: list.map((c) => `${escaped(c.label)}<br>${spanText(c.speedup.ratio, "x")} of ${escaped(c.speedup.baseline)}<br>` + (c.speedup.claimed ? `${c.speedup.pairs} process pairs` : `no claim (${c.speedup.scope.replace("_", " ")}, ${c.speedup.pairs} pairs)`)),
      hoverinfo: "text",
    });
    const one = { type: "line", x0: 1, x1: 1, yref: "paper", y0: 0, y1: 1, line: { color: style("--ink"), width: 1.2, dash: "dot" } };
    const values = cases.flatMap((c) => c.speedup.ratio.filter((v) => v !== null));
    const axis = { title: { text: "time of baseline / time, 1 is equal", standoff: 8 }, range: [Math.min(0.9, ...values.map((v) => v * 0.92)), Math.max(1.1, ...values.map((v) => v * 1.05))] };
    rows(parent, cases, trace, axis, { shapes: [one] }, "Speed-up over the baseline of each case, with interval");
  }

  function horizontalBars(field, text) {
    return (list, y) => ({
      type: "bar", orientation: "h", y, x: list.map(field), marker: { color: style("--accent") }, width: 0.62,
      text: list.map(text), textposition: "auto", cliponaxis: false, hovertext: list.map((c) => `${escaped(c.label)}: ${text(c)}`), hoverinfo: "text",
    });
  }

  function memory(parent) {
    const cases = data.cases.filter((c) => c.memory !== null);
    rows(parent, cases, horizontalBars((c) => c.memory, (c) => `${shown(c.memory)} MB`), { title: { text: "MB above the state before load", standoff: 8 }, rangemode: "tozero" }, {}, "Peak memory of each case");
  }

  function peak(parent) {
    const cases = data.cases.filter((c) => c.peak !== null);
    const limit = { type: "line", x0: 100, x1: 100, yref: "paper", y0: 0, y1: 1, line: { color: style("--ink"), width: 1.2, dash: "dot" } };
    const top = Math.max(105, ...cases.map((c) => c.peak * 104));
    rows(parent, cases, horizontalBars((c) => c.peak * 100, (c) => `${(c.peak * 100).toFixed(0)} %`), { title: { text: "% of the measured peak", standoff: 8 }, range: [0, top] }, { shapes: [limit] }, "Share of the measured peak of each case");
  }

  // 1, 2, 3, 5, 7 times powers of ten: a logarithmic axis whose numbers are written out.
  const logTicks = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 3, 5, 7].map((digit) => digit * 10 ** power));

  // Latency against throughput of one model, what is not beaten joined by a line; accuracy in words at each mark. Very many marks
  // have neither intervals nor batch sizes beside them, which would hide each other.
  function pareto(parent) {
    const names = distinct(data.cases.map((c) => c.series));
    for (const model of distinct(data.cases.map((c) => c.model))) {
      const cases = data.cases.filter((c) => c.model === model && c.training === null && c.p50[0] !== null && c.rate[0] !== null);
      if (cases.length < 2) continue;
      const few = cases.length <= MOST;
      const front = cases.filter((c) => c.front).sort((a, b) => a.p50[0] - b.p50[0]);
      const line = { type: "scatter", mode: "lines", x: front.map((c) => c.p50[0]), y: front.map((c) => c.rate[0]), line: { color: style("--soft"), width: 1.4, dash: "dot" }, hoverinfo: "skip", showlegend: false };
      const present = names.filter((n) => cases.some((c) => c.series === n));
      const marks = present.map((name) => {
        const own = cases.filter((c) => c.series === name), index = names.indexOf(name), colour = palette()[index % palette().length];
        return {
          type: "scatter", mode: few ? "markers+text" : "markers", name: escaped(name), x: own.map((c) => c.p50[0]), y: own.map((c) => c.rate[0]),
          ...(few ? { error_x: bars(own.map((c) => c.p50), colour), error_y: bars(own.map((c) => c.rate), colour) } : {}),
          marker: { color: own.map((c) => (c.front ? colour : style("--panel"))), line: { color: colour, width: 2 }, size: 10, symbol: symbols[index % symbols.length] },
          text: own.map((c) => `b${c.batch}`), textposition: "top center", textfont: { size: 10 }, hoverinfo: "text",
          hovertext: own.map((c) => `${escaped(c.label)}<br>${spanText(c.p50, "ms")}, ${spanText(c.rate, data.unit)}` + (c.accuracy ? `<br>${c.accuracy}` : "")),
        };
      });
      draw(parent, [line, ...marks], {
        title: { text: escaped(model), font: { size: 13 }, x: 0, xref: "paper", xanchor: "left", y: 0.98 },
        showlegend: true, height: 360 + 20 * Math.ceil(present.length / 2), margin: { l: 56, r: 16, t: 34, b: 70 },
        xaxis: { title: { text: "p50, ms", standoff: 6 }, type: "log", tickvals: logTicks, ticktext: logTicks.map((tick) => Number(tick.toPrecision(1)).toString()) }, yaxis: { title: { text: data.unit, standoff: 8 }, rangemode: "tozero" },
      }, `Throughput against latency for ${model}; not beaten: ${front.map((c) => c.label).join(", ")}`);
    }
  }

  // Throughput over ranks: a line for cases that differ in nothing else, and a dotted one for as many times the throughput as ranks.
  function scaling(parent) {
    const trained = data.cases.filter((c) => c.training !== null && c.rate[0] !== null);
    const isBase = (c) => trained.some((other) => other.training.scaling !== null && other.training.scaling.base === c.training.case);
    for (const model of distinct(trained.map((c) => c.model))) {
      const bases = trained.filter((c) => c.model === model && isBase(c));
      if (bases.length === 0) continue;
      const families = bases.map((base) => [base, ...trained.filter((c) => c.training.scaling !== null && c.training.scaling.base === base.training.case)]);
      const worlds = distinct(families.flat().map((c) => c.training.world)).sort((a, b) => a - b);
      draw(parent, families.flatMap((family, at) => familyTraces(family, at)), {
        title: { text: escaped(model), font: { size: 13 }, x: 0, xref: "paper", xanchor: "left", y: 0.98 },
        showlegend: true, height: 350 + 20 * Math.ceil(families.length / 2), margin: { l: 56, r: 16, t: 34, b: 70 },
        xaxis: { title: { text: "ranks", standoff: 6 }, tickvals: worlds, zeroline: false }, yaxis: { title: { text: data.unit, standoff: 8 }, rangemode: "tozero" },
      }, `Throughput over ranks for ${model}: ${families.flat().map((c) => `${c.label} ${spanText(c.rate, data.unit)}`).join("; ")}`);
    }
  }

  // "resnet50 train fp32 b8 r1" is a line over ranks.
  const withoutRanks = (label) => label.replace(/ r\d+(?= |$)/, "");

  function efficiencyText(scaling) {
    if (scaling === null) return "";
    return scaling.efficiency === null ? `<br>no claim: ${escaped(scaling.doubt)}` : `<br>efficiency ${spanText(scaling.efficiency, "")}`;
  }

  function familyTraces(family, at) {
    const colour = palette()[at % palette().length];
    const sorted = [...family].sort((a, b) => a.training.world - b.training.world);
    const base = sorted[0], last = sorted[sorted.length - 1];
    const ideal = (c) => (base.rate[0] * c.training.world) / base.training.world;
    const words = (c) => `${escaped(c.label)}<br>${spanText(c.rate, data.unit)}` + efficiencyText(c.training.scaling);
    return [
      { type: "scatter", mode: "lines", x: [base.training.world, last.training.world], y: [base.rate[0], ideal(last)], line: { color: colour, width: 1.2, dash: "dot" }, hoverinfo: "skip", showlegend: false },
      {
        type: "scatter", mode: "lines+markers", name: escaped(withoutRanks(base.label)), x: sorted.map((c) => c.training.world), y: sorted.map((c) => c.rate[0]),
        error_y: bars(sorted.map((c) => c.rate), colour), line: { color: colour, width: 1.6 }, marker: { color: colour, size: 8, symbol: symbols[at % symbols.length] },
        text: sorted.map(words), hoverinfo: "text",
      },
    ];
  }

  const bytesText = (bytes) => (bytes >= 2 ** 20 ? `${shown(bytes / 2 ** 20)} MiB` : bytes >= 1024 ? `${shown(bytes / 1024)} KiB` : `${bytes} B`);

  // Bus bandwidth by size: marks with intervals, and what the fitted latency and bandwidth give as a dotted line.
  function collectives(parent) {
    const cases = firstOf(parent, data.cases.filter((c) => c.collective !== null));
    if (cases.length === 0) return;
    const sizes = distinct(cases.flatMap((c) => c.collective.map((point) => point.bytes))).sort((a, b) => a - b);
    const ticks = sizes.filter((_, at) => at % Math.ceil(sizes.length / 8) === 0);
    draw(parent, cases.flatMap((c, at) => {
      const colour = palette()[at % palette().length], points = c.collective, x = points.map((point) => point.bytes);
      return [
        { type: "scatter", mode: "lines", x, y: points.map((point) => point.fitted), line: { color: colour, width: 1.2, dash: "dot" }, hoverinfo: "skip", showlegend: false },
        {
          type: "scatter", mode: "markers", name: escaped(c.label), x, y: points.map((point) => point.busbw[0]), error_y: bars(points.map((point) => point.busbw), colour),
          marker: { color: colour, size: 8, symbol: symbols[at % symbols.length] }, hoverinfo: "text",
          text: points.map((point) => `${escaped(c.label)}<br>${bytesText(point.bytes)}: ${spanText(point.busbw, "GB/s")}<br>${spanText(point.us, "us")}`),
        },
      ];
    }), {
      showlegend: true, height: 350 + 20 * Math.ceil(cases.length / 2), margin: { l: 56, r: 16, t: 12, b: 70 },
      xaxis: { title: { text: "size of a message", standoff: 6 }, type: "log", tickvals: ticks, ticktext: ticks.map(bytesText) }, yaxis: { title: { text: "bus bandwidth, GB/s", standoff: 8 }, rangemode: "tozero" },
    }, `Bus bandwidth by size: ${cases.map((c) => `${c.label}: ${c.collective.map((point) => `${bytesText(point.bytes)} ${shown(point.busbw[0])} GB/s`).join(", ")}`).join("; ")}`);
  }

  // One bar a case, its parts one after the other; `value` of a case and the number of a part.
  function stacked(parent, all, names, colours, value, axis, label) {
    if (all.length === 0) return;
    const cases = firstOf(parent, all);
    const ticks = cases.map((_, i) => i);
    draw(parent, names.map((name, part) => ({
      type: "bar", orientation: "h", name, y: ticks, x: cases.map((c) => value(c, part) ?? 0), width: 0.62, marker: { color: palette()[colours[part]] },
      hovertext: cases.map((c) => `${escaped(c.label)}<br>${name}: ${shown(value(c, part))} ms`), hoverinfo: "text",
    })), {
      barmode: "stack", showlegend: true, legend: { orientation: "h", x: 0, y: 0, yref: "container", yanchor: "bottom", traceorder: "normal", font: { size: 12 }, itemclick: false, itemdoubleclick: false }, height: 150 + cases.length * (narrow() ? 40 : 27), xaxis: { title: { text: axis, standoff: 8 }, zeroline: false },
      yaxis: { tickvals: ticks, ticktext: cases.map((c) => rowLabel(c) + "  "), range: [cases.length - 0.5, -0.5], zeroline: false, showgrid: false, tickfont: { size: narrow() ? 11 : 12 } },
      margin: { l: 10, r: 20, t: 8, b: 90 },
    }, `${label}: ${cases.map((c) => `${c.label}: ${names.map((name, part) => `${name} ${shown(value(c, part))} ms`).join(", ")}`).join("; ")}`);
  }

  function parts(parent) {
    const names = ["data wait", "input", "forward", "backward", "exposed communication", "optimizer"];
    stacked(parent, data.cases.filter((c) => c.training !== null), names, [4, 6, 0, 5, 1, 2], (c, part) => c.training.parts[part], "ms of a step", "Parts of a step");
  }

  // A line a case; at a mark stand the accuracy while training, where there are labels, and the figures of held-out data.
  function loss(parent) {
    const cases = firstOf(parent, data.cases.filter((c) => c.training !== null && c.training.epochs !== null));
    if (cases.length === 0) return;
    const right = (share) => (share === null ? "" : `, ${(share * 100).toFixed(1)} % right`);
    const heldOut = (e) => (e.held_out_loss === null ? "" : `<br>held-out data: loss ${shown(e.held_out_loss)}${right(e.held_out_accuracy)}`);
    const words = (c, e) => `${escaped(c.label)}<br>epoch ${e.epoch}: loss ${shown(e.loss)}${right(e.accuracy)}${heldOut(e)}`;
    draw(parent, cases.map((c, at) => ({
      type: "scatter", mode: "lines+markers", name: escaped(c.label), x: c.training.epochs.map((e) => e.epoch), y: c.training.epochs.map((e) => e.loss),
      line: { color: palette()[at % palette().length], width: 1.6 }, marker: { color: palette()[at % palette().length], size: 7, symbol: symbols[at % symbols.length] },
      text: c.training.epochs.map((e) => words(c, e)), hoverinfo: "text",
    })), {
      showlegend: true, height: 320 + 20 * Math.ceil(cases.length / 2), margin: { l: 56, r: 16, t: 12, b: 70 },
      xaxis: { title: { text: "epoch", standoff: 6 }, zeroline: false, tickformat: "d", dtick: Math.ceil(Math.max(...cases.map((c) => c.training.epochs.length)) / 12) }, yaxis: { title: { text: "loss", standoff: 8 } },
    }, `Loss over epochs: ${cases.map((c) => `${c.label} ${c.training.epochs.map((e) => shown(e.loss)).join(", ")}`).join("; ")}`);
  }

  function stages(parent) {
    const cases = data.cases.filter((c) => c.stages !== null);
    const names = distinct(cases.flatMap((c) => c.stages.map((stage) => stage.name)));
    const value = (c, part) => c.stages.find((stage) => stage.name === names[part])?.ms ?? null;
    stacked(parent, cases, names, [1, 4, 0, 2, 5, 6, 3], value, "ms of a request", "Stages of a request");
  }

  // Of the first servers; the others stand with their cases.
  function requests(parent) {
    for (const c of data.cases.filter((one) => one.server && one.samples !== null).slice(0, 6)) distribution(parent, c, c.label);
  }

  function distribution(parent, c, title = "") {
    const { histogram: h, p99, total } = c.samples;
    const line = (x, dash) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: style("--ink"), width: 1.4, dash } });
    const note = (x, text) => ({ x, y: 1, yref: "paper", yanchor: "bottom", showarrow: false, text, font: { size: 11 } });
    const marks = [[c.p50[0], "p50", "solid"], [p99, "p99", "dot"]].filter(([x]) => x !== null);
    const beyond = h.beyond > 0 ? ` (${h.beyond} of ${total} lie beyond the right edge)` : "";
    draw(parent, [{ type: "bar", x: h.counts.map((_, i) => h.low + (i + 0.5) * h.bin_width), y: h.counts, width: h.bin_width, marker: { color: style("--accent"), opacity: 0.75 }, hovertemplate: "%{y} samples around %{x:.4g} ms<extra></extra>" }], {
      ...(title ? { title: { text: escaped(title), font: { size: 13 }, x: 0, xref: "paper", xanchor: "left", y: 0.98 }, margin: { l: 56, r: 16, t: 52, b: 44 } } : {}),
      height: title ? 312 : 290, bargap: 0, shapes: marks.map(([x, , dash]) => line(x, dash)), annotations: marks.map(([x, text]) => note(x, text)),
      xaxis: { title: { text: "ms" + beyond, standoff: 8 }, zeroline: false, nticks: 7 }, yaxis: { title: { text: "samples", standoff: 8 } },
    }, `Distribution of ${total} latencies of ${c.label}`);
  }

  // Every process in turn: its samples, its median, and a shade where noise was seen.
  function timeSeries(parent, c) {
    const { series: s, repetitions } = c.samples;
    const colours = [palette()[0], palette()[5]];
    const medians = repetitions.filter((r) => r.p50 !== null).map((r) => ({ type: "line", x0: r.from, x1: r.to, y0: r.p50, y1: r.p50, line: { color: style("--ink"), width: 1.6 } }));
    const noisy = repetitions.filter((r) => r.warnings.length > 0).map((r) => ({ type: "rect", x0: r.from, x1: r.to, yref: "paper", y0: 0, y1: 1, fillcolor: style("--warning"), opacity: 0.16, line: { width: 0 }, layer: "below" }));
    const repetitionOf = s.index.map((i) => repetitions.find((r) => i >= r.from && i <= r.to));
    const hover = s.index.map((i, at) => `process ${repetitionOf[at]?.number}, sample ${i}: ${s.ms[at]} ms` + (repetitionOf[at]?.warnings ?? []).map((w) => `<br>${escaped(c.samples.warnings[w])}`).join(""));
    draw(parent, [{ type: "scatter", mode: "markers", x: s.index, y: s.ms, marker: { size: 3.5, color: repetitionOf.map((r) => colours[(r?.number ?? 0) % 2]) }, text: hover, hoverinfo: "text" }], {
      height: 290, shapes: [...noisy, ...medians],
      xaxis: { title: { text: "sample; lines are medians" + (noisy.length ? ", shade is noise" : ""), standoff: 8 }, zeroline: false }, yaxis: { title: { text: "ms", standoff: 8 }, zeroline: false },
    }, `Latencies over time of ${c.label}`);
  }

  const charts = {
    throughput: (box) => overBatch(box, "rate", data.unit),
    latency: (box) => overBatch(box, "p50", "ms"),
    pareto,
    scaling,
    collectives,
    parts,
    loss,
    stages,
    requests,
    speedup: speedups,
    memory,
    peak,
    samples: (box) => {
      const c = data.cases.find((one) => one.id === box.dataset.case);
      distribution(box, c);
      timeSeries(box, c);
    },
  };

  const drawn = new WeakSet();

  // The library is most of the page; it is read when everything else stands. True: it was read now.
  function loadPlotly() {
    const text = document.getElementById("plotly");
    if (!text) return false;
    const script = document.createElement("script");
    script.textContent = text.textContent;
    text.replaceWith(script);
    return true;
  }

  function drawBox(box) {
    drawn.add(box);
    loadPlotly();
    if (!globalThis.Plotly) return;
    charts[box.dataset.chart](box);
    for (const [plot, traces, shape] of pending.splice(0)) Plotly.newPlot(plot, traces, shape, { displayModeBar: false, responsive: true });
  }

  // The details of very many cases stand as text until one is opened.
  function unpack(one) {
    const text = one.querySelector(':scope > script[type="text/html"]');
    if (text) text.outerHTML = text.textContent;
  }

  // Charts inside a closed case are drawn when it opens.
  const waiting = () => [...document.querySelectorAll("[data-chart]")].filter((box) => !drawn.has(box) && !box.closest("details:not([open])"));

  function inSight(box) {
    const { top, bottom } = box.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  // Charts are drawn one at a time, those in sight first, while the reader does not scroll: neither they nor their library hold a page up.
  const REST_MS = data.cases.length > MOST ? 300 : 0;
  let queued = 0, moved = 0;

  function drawWaiting() {
    clearTimeout(queued);
    queued = setTimeout(() => {
      const boxes = waiting();
      if (boxes.length === 0) return;
      if (!loadPlotly()) drawBox(boxes.find(inSight) ?? boxes[0]);
      drawWaiting();
    }, Math.max(0, moved + REST_MS - performance.now()));
  }

  function move() {
    moved = performance.now();
    drawWaiting();
  }

  function redraw() {
    for (const box of document.querySelectorAll("[data-chart]")) {
      for (const plot of box.querySelectorAll(".js-plotly-plot")) Plotly.purge(plot);
      box.replaceChildren();
      drawn.delete(box);
    }
    drawWaiting();
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
    if (!target || target.tagName !== "DETAILS") return;
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
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
    for (const one of document.querySelectorAll("details.case")) one.addEventListener("toggle", () => {
      unpack(one);
      drawWaiting();
    });
    addEventListener("hashchange", openTarget);
    dark.addEventListener("change", redraw);
    matchMedia("(max-width: 560px)").addEventListener("change", redraw);
    addEventListener("beforeprint", () => waiting().forEach(drawBox));
    addEventListener("scroll", move, { passive: true });
    addEventListener("load", move);
    openTarget();
  }
  start();
})();
