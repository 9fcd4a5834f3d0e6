import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTimeOfDay } from './instants.ts'

export interface SeriesLine {
  readonly name: string
  /** The name of a custom property. */
  readonly color: string
  readonly values: readonly number[]
}

interface TimeSeriesProps {
  /** Epoch seconds. */
  readonly at: readonly number[]
  readonly lines: readonly SeriesLine[]
  readonly label: string
}

const HEIGHT = 96
/** The points are minutes apart, so no label is finer. */
const STEPS_S = [60, 300, 600, 1_200, 3_600]

/** A small chart. The numbers stand beside it as a table for those who do not see it. */
export function TimeSeries({ at, lines, label }: TimeSeriesProps) {
  const frame = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>(null)
  const names = lines.map(({ name, color }) => `${name} ${color}`).join('|')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is made anew only for other lines.
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const drawn = new UPlot(createOptions(element, lines), toData(at, lines), element)
    chart.current = drawn
    const watcher = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }))
    watcher.observe(element)
    const recolor = new MutationObserver(() => drawn.redraw())
    recolor.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      watcher.disconnect()
      recolor.disconnect()
      drawn.destroy()
      chart.current = null
    }
  }, [names])
  useEffect(() => {
    chart.current?.setData(toData(at, lines))
  }, [at, lines])
  return <div className="chart" ref={frame} role="img" aria-label={label} />
}

function toData(at: readonly number[], lines: readonly SeriesLine[]): UPlot.AlignedData {
  return [[...at], ...lines.map(({ values }) => [...values])]
}

function createOptions(element: HTMLElement, lines: readonly SeriesLine[]): UPlot.Options {
  const read = (name: string) => readColor(element, name)
  const axis = {
    stroke: () => read('--ink-3'),
    grid: { stroke: () => read('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: Math.max(element.clientWidth, 1),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 18, 0, 0],
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(max, 1)] } },
    axes: [
      { ...axis, size: 22, font: '11px system-ui', space: 72, values: writeTimes, incrs: STEPS_S },
      { ...axis, size: 34, font: '11px system-ui', space: 28 },
    ],
    series: [
      {},
      ...lines.map(({ name, color }) => ({
        label: name,
        stroke: () => read(color),
        width: 1.5,
        points: { show: false },
      })),
    ],
  }
}

/** The hours of a day are counted as on the rest of the page. */
function writeTimes(_chart: UPlot, splits: number[]): string[] {
  return splits.map((seconds) => formatTimeOfDay(seconds * 1_000).slice(0, 5))
}

/** A canvas knows no `light-dark()`, so the browser is asked what an element of that colour has. */
function readColor(element: HTMLElement, name: string): string {
  const before = element.style.color
  element.style.color = `var(${name})`
  const color = getComputedStyle(element).color
  element.style.color = before
  return color
}
