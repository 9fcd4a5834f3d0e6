import { html, type Markup } from '../html/markup.ts'

/** All pictures are as wide, in units that are about a pixel on a phone. */
export const WIDTH = 480

export function picture(label: string, height: number, parts: readonly Markup[]): Markup {
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${parts}</svg>`
}

export interface Point {
  readonly x: number
  readonly y: number
}

export function line(className: string, from: Point, to: Point): Markup {
  return html`<line class="${className}" x1="${px(from.x)}" y1="${px(from.y)}" x2="${px(to.x)}" y2="${px(to.y)}"/>`
}

export function polyline(className: string, points: readonly Point[]): Markup {
  return html`<polyline class="${className}" points="${points.map(({ x, y }) => `${px(x)},${px(y)}`).join(' ')}"/>`
}

export function dot(className: string, { x, y }: Point, title: string, radius = 3): Markup {
  return html`<circle class="${className}" cx="${px(x)}" cy="${px(y)}" r="${radius}"><title>${title}</title></circle>`
}

export interface Box extends Point {
  readonly width: number
  readonly height: number
}

export function box(className: string, { x, y, width, height }: Box, title: string): Markup {
  return html`<rect class="${className}" x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" rx="2"><title>${title}</title></rect>`
}

export function text(
  className: string,
  { x, y }: Point,
  words: string,
  anchor: 'start' | 'middle' | 'end' = 'start',
): Markup {
  return html`<text class="${className}" x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${words}</text>`
}

/** Hundredths are finer than any screen. */
function px(value: number): number {
  return Math.round(value * 100) / 100
}
