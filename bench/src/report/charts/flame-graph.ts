import { type CallFrame, isOwn, packageOf, shortUrl } from '../../profile/cpu-profile.ts'
import type { StackFrame } from '../../profile/merged-stacks.ts'
import { figureOf } from '../html/figures.ts'
import { html, type Markup } from '../html/markup.ts'

const WIDTH = 1080
const ROW_HEIGHT = 17
const LETTER_WIDTH = 6.2
/** Narrower frames cannot be pointed at, and a page would grow without an end. */
const FRAME_WIDTH_MIN = 1.2
const DEPTH_MAX = 60

/** Where a thread's busy time went: the outermost function on top, each one as wide as its share. */
export function flameGraph(name: string, root: StackFrame): Markup {
  const frames: Markup[] = []
  const perUs = WIDTH / root.totalUs
  let deepest = 0
  const draw = (frame: StackFrame, x: number, depth: number): void => {
    const width = frame.totalUs * perUs
    if (width < FRAME_WIDTH_MIN || depth > DEPTH_MAX) return
    deepest = Math.max(deepest, depth)
    frames.push(frameBox(frame, root.totalUs, { x, y: depth * ROW_HEIGHT, width }))
    let calleeX = x
    for (const callee of frame.callees) {
      draw(callee, calleeX, depth + 1)
      calleeX += callee.totalUs * perUs
    }
  }
  draw(root, 0, 0)
  const seconds = figureOf(root.totalUs / 1e6)
  return html`<figure class="wide">
<h3>Where the time went: ${name}</h3>
<ul class="legend"><li><i class="swatch own"></i>our packages</li><li><i class="swatch dependency"></i>dependencies</li><li><i class="swatch node"></i>Node</li><li><i class="swatch engine"></i>V8 and native</li></ul>
<div class="flame"><svg viewBox="0 0 ${WIDTH} ${(deepest + 1) * ROW_HEIGHT}" role="img" aria-label="Flame graph of ${name}">${frames}</svg></div>
<figcaption>${seconds} busy seconds, without the start and without idle time; callers above what they call, equal stacks merged. Point at a frame for its name, place and share.</figcaption>
</figure>`
}

interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
}

function frameBox({ callFrame, totalUs }: StackFrame, allUs: number, { x, y, width }: Place): Markup {
  const label = callFrame.functionName === '' ? '(anonymous)' : callFrame.functionName
  const letters = Math.floor((width - 6) / LETTER_WIDTH)
  const words = label.length <= letters ? label : letters < 4 ? '' : `${label.slice(0, letters - 1)}…`
  const share = `${figureOf((totalUs / allUs) * 100)} %, ${figureOf(totalUs / 1e3)} ms`
  return html`<g><title>${label} ${placeOf(callFrame)} ${share}</title><rect class="${kindOf(callFrame)}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW_HEIGHT}"/>${
    words === '' ? '' : html`<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${words}</text>`
  }</g>`
}

function placeOf({ url, lineNumber }: CallFrame): string {
  return url === '' ? '' : `(${shortUrl(url)}:${lineNumber + 1})`
}

function kindOf(callFrame: CallFrame): string {
  if (isOwn(callFrame)) return 'own'
  if (callFrame.url.startsWith('node:')) return 'node'
  return packageOf(callFrame) === callFrame.functionName ? 'engine' : 'dependency'
}
