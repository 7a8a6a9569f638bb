// Runs in the page and draws the charts in its colors and width. Everything else in the page works without this script.
const charts = JSON.parse(document.getElementById('charts').textContent)
const root = document.documentElement
const color = (name) => getComputedStyle(root).getPropertyValue(name)

function draw(place) {
  const { labels, unit, totals, finals } = charts[Number(place.dataset.chart)]
  const bars = uPlot.paths.bars({ size: [0.8, 48] })
  // Light bars have a dark edge, because their fill has little contrast.
  const series = (label, fill, width) => ({
    label,
    fill: () => color(fill),
    stroke: () => color('--bar'),
    width,
    paths: bars,
    points: { show: false },
    value: (_, amount) => (amount == null ? '–' : `${amount.toLocaleString('en', { maximumFractionDigits: 4 })} ${unit}`),
  })
  const axis = { stroke: () => color('--muted'), grid: { stroke: () => color('--line'), width: 1 }, ticks: { show: false } }
  const name = (at) => labels[at] ?? ''
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height: 300,
      scales: {
        x: { time: false, range: (_, low, high) => [low - 0.6, high + 0.6] },
        y: { range: (_, low, high) => [Math.min(0, low), high * 1.05 || 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, incrs: [1, 2, 5, 7, 14, 28, 56, 91, 182], values: (_, splits) => splits.map(name) },
        // Fits the longest number.
        { ...axis, size: (_, values) => 16 + 8 * Math.max(2, ...(values ?? []).map((text) => String(text).length)) },
      ],
      series: [{ label: 'Day', value: (_, at) => (at == null ? '–' : name(at)) }, series('Used', '--open', 1), series('Final', '--bar', 0)],
      cursor: { y: false, points: { show: false } },
    },
    [labels.map((_, at) => at), totals, finals],
    place,
  )
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 300 })).observe(place)
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

for (const place of document.querySelectorAll('.chart')) draw(place)
