import { html, type Markup } from './markup.ts'
import { STYLES } from './styles.ts'

/** A whole document, with nothing that must be fetched and nothing that runs. */
export function page(title: string, lead: string, sections: readonly Markup[]): string {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLES}</style>
</head>
<body>
<main>
<header><h1>${title}</h1><p class="lead">${lead}</p></header>
${sections}
</main>
</body>
</html>
`
  return document.toString()
}
