// Runs in the page: draws the charts in its colors and width, and shows where a table has more columns than fit. Everything else in the
// page works without this script.
const charts = JSON.parse(document.getElementById('charts').textContent)
const root = document.documentElement
const color = (name) => getComputedStyle(root).getPropertyValue(name)

const addUp = (values) => {
  let sum = 0
  return values.map((value) => {
    sum += value ?? 0
    return value == null ? null : sum
  })
}

// Light bars have a dark edge, because their fill has little contrast.
const bars = (fill, edge, dash) => ({
  fill: () => color(fill),
  stroke: () => color('--bar'),
  width: edge,
  ...(dash && { dash: [4, 3] }),
  paths: uPlot.paths.bars({ size: [0.8, 48] }),
  points: { show: false },
})

/** Colors of the legend. */
const limitColors = ['--fail', '--warn']

const line = (stroke, dash) => ({ stroke: () => color(stroke), width: 2, ...(dash && { dash: [6, 4] }), points: { show: false } })

/** A triangle above each spike. */
function markSpikes(plot, positions, values) {
  const { ctx } = plot
  const size = 5 * uPlot.pxRatio
  ctx.save()
  ctx.fillStyle = color('--fail')
  for (const at of positions) {
    const [x, y] = [plot.valToPos(at, 'x', true), plot.valToPos(values[at], 'y', true) - size]
    ctx.beginPath()
    ctx.moveTo(x, y)
    ctx.lineTo(x - size, y - 1.6 * size)
    ctx.lineTo(x + size, y - 1.6 * size)
    ctx.fill()
  }
  ctx.restore()
}

function draw(place, { labels, unit, series, top, tell, mark }) {
  const readout = place.nextElementSibling
  const help = [...readout.childNodes]
  const axis = { stroke: () => color('--muted'), grid: { stroke: () => color('--line'), width: 1 }, ticks: { show: false } }
  const amount = (value) => `${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${unit}`
  const height = place.clientHeight
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      scales: {
        x: { time: false, range: (_, low, high) => [low - 0.6, high + 0.6] },
        y: { range: (_, low, high) => [Math.min(0, low), Math.max(high, top) * 1.08 || 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          // Fits the longest label.
          space: Math.max(70, 16 + 8 * Math.max(0, ...labels.map((text) => text.length))),
          incrs: [1, 2, 5, 7, 14, 28, 56, 91, 182],
          values: (_, splits) => splits.map((at) => labels[at] ?? ''),
        },
        // Fits the longest number.
        { ...axis, size: (_, values) => 16 + 8 * Math.max(2, ...(values ?? []).map((text) => String(text).length)) },
      ],
      series: [{}, ...series.map(({ style }) => style)],
      cursor: { y: false, points: { show: false } },
      hooks: {
        draw: [(plot) => mark?.(plot)],
        setCursor: [
          ({ cursor: { idx } }) => {
            readout.replaceChildren(...(idx == null ? help : [`${labels[idx]}: ${tell(idx, amount)}`]))
          },
        ],
      },
    },
    [labels.map((_, at) => at), ...series.map(({ values }) => values)],
    place,
  )
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height })).observe(place)
  const redraw = () => chart.redraw()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  // Paper is white in dark mode, too.
  addEventListener('beforeprint', () => {
    root.classList.add('print')
    redraw()
  })
  addEventListener('afterprint', () => {
    root.classList.remove('print')
    redraw()
  })
}

function drawBars(place, { labels, unit, valueName, totals, finals, forecast, spikes }) {
  draw(place, {
    labels,
    unit,
    top: 0,
    series: [
      { values: forecast, style: bars('--ground', 1, true) },
      { values: totals, style: bars('--open', 1) },
      { values: finals, style: bars('--bar', 0) },
    ],
    mark: (plot) => markSpikes(plot, spikes, totals),
    tell: (at, amount) =>
      [
        ...(totals[at] == null ? [] : [`${valueName} ${amount(totals[at])}`]),
        ...(totals[at] === finals[at] ? [] : [`of which ${amount(totals[at] - finals[at])} provisional`]),
        ...(forecast[at] == null ? [] : [`forecast ${amount(forecast[at])}`]),
        ...(spikes.includes(at) ? ['a spike'] : []),
      ].join(', '),
  })
}

function drawRunningTotal(place, { labels, unit, valueName, totals, forecast, limits }) {
  const used = addUp(totals)
  const first = forecast.findIndex((value) => value != null)
  // Begins where the known values end, so that the two lines meet.
  const expected = addUp(labels.map((_, at) => forecast[at] ?? totals[at])).map((sum, at) => (first < 0 || at < first - 1 ? null : sum))
  draw(place, {
    labels,
    unit,
    top: Math.max(0, ...limits.map(({ value }) => value)),
    series: [
      { values: expected, style: line('--bar', true) },
      { values: used, style: line('--bar') },
      ...limits.map(({ value }, i) => ({ values: labels.map(() => value), style: line(limitColors[i] ?? '--muted', true) })),
    ],
    tell: (at, amount) =>
      [
        ...(used[at] == null ? [] : [`${valueName} ${amount(used[at])}`]),
        ...(forecast[at] == null ? [] : [`forecast ${amount(expected[at])}`]),
      ].join(', '),
  })
}

for (const place of document.querySelectorAll('.chart')) {
  const chart = charts[Number(place.dataset.chart)]
  if (place.classList.contains('running')) drawRunningTotal(place, chart)
  else drawBars(place, chart)
}

for (const box of document.querySelectorAll('.scroll')) {
  const update = () => box.classList.toggle('wide', box.scrollLeft + box.clientWidth < box.scrollWidth - 1)
  box.addEventListener('scroll', update, { passive: true })
  new ResizeObserver(update).observe(box)
}
