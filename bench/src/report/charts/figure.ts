import { html, type Markup } from '../html/markup.ts'

/** A picture with its title, what its colours mean, and how to read it. */
export function figure(title: string, legend: readonly string[], content: Markup, caption: string): Markup {
  const keys = legend.map((name, index) => html`<li><i class="key ${colour(index)}"></i>${name}</li>`)
  return html`<figure>
<h3>${title}</h3>
${keys.length > 1 ? html`<ul class="legend">${keys}</ul>` : ''}
${content}
<figcaption>${caption}</figcaption>
</figure>`
}

const COLOURS = 8

export function colour(index: number): string {
  return `c${(index % COLOURS) + 1}`
}
