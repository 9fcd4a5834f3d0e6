import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Documents that the package carries, by their paths in the repository. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  'sdk/README.md': 'README.md',
  'docs/guides/participant.md': 'docs/participant.md',
  'docs/guides/tcc.md': 'docs/tcc.md',
  'docs/guides/message.md': 'docs/message.md',
  'docs/guides/signed-calls.md': 'docs/signed-calls.md',
  'docs/errors.md': 'docs/errors.md',
}

/** By their paths in the package, with links that lead from there to each other. */
export function publishedDocuments(root: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(DOCUMENTS).map(([source, published]) => {
      const text = readFileSync(join(root, source), 'utf8')
      return [
        published,
        text.replace(/(?<=\]\()[^)\s]+(?=\))/g, (link) => publishedLink(link, source, published)),
      ]
    }),
  )
}

function publishedLink(link: string, source: string, published: string): string {
  if (/^([a-z]+:|#)/i.test(link)) return link
  const [path = '', fragment] = link.split('#')
  const target = DOCUMENTS[posix.join(posix.dirname(source), path)]
  if (target === undefined) throw new Error(`${source} links to ${path}, which the package does not carry`)
  const relative = posix.relative(posix.dirname(published), target)
  return fragment === undefined ? relative : `${relative}#${fragment}`
}
