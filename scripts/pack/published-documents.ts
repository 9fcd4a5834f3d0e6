import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { COUNTERSTEP, type PublicPackage, SDK } from './public-packages.ts'

/** The path in the package of each document, by its path in the repository. */
type Documents = Readonly<Record<string, string>>

const FOR_BOTH: Documents = {
  'docs/guides/signed-calls.md': 'docs/signed-calls.md',
  'docs/errors.md': 'docs/errors.md',
  'docs/glossary.md': 'docs/glossary.md',
}

/** Only the SDK carries these, since who writes a saga or a service installs it. */
const FOR_PARTICIPANTS: Documents = {
  ...FOR_BOTH,
  'docs/guides/participant.md': 'docs/participant.md',
  'docs/guides/saga.md': 'docs/saga.md',
  'docs/guides/values.md': 'docs/values.md',
  'docs/guides/approval.md': 'docs/approval.md',
  'docs/guides/workflow.md': 'docs/workflow.md',
  'docs/guides/tcc.md': 'docs/tcc.md',
  'docs/guides/message.md': 'docs/message.md',
}

const FOR_HOSTS: Documents = {
  ...FOR_BOTH,
  'docs/guides/api-keys.md': 'docs/api-keys.md',
  'docs/guides/targets.md': 'docs/targets.md',
  'docs/guides/alerts.md': 'docs/alerts.md',
  'docs/guides/observe.md': 'docs/observe.md',
  'docs/guides/operate.md': 'docs/operate.md',
  'docs/http-api.md': 'docs/http-api.md',
  'docs/stores.md': 'docs/stores.md',
}

/** The documents that a package carries besides its README. */
const DOCUMENTS: Readonly<Record<string, Documents>> = {
  [SDK.name]: FOR_PARTICIPANTS,
  [COUNTERSTEP.name]: {
    ...FOR_HOSTS,
    'docs/guides/embed.md': 'docs/embed.md',
    'docs/guides/deploy-lambda.md': 'docs/deploy-lambda.md',
    'docs/guides/from-dtm.md': 'docs/from-dtm.md',
  },
}

/** These are of no use without the repository, so a link to one becomes plain text. */
const OF_THE_REPOSITORY =
  /^(README\.md$|infra\/|packages\/|testing\/|docs\/decisions\/|docs\/(README|invariants|reliability|guides\/scale)\.md$)/

/** Returns the documents by their paths in the package, with links that lead from there to each other. */
export function publishedDocuments(
  root: string,
  { name, folder }: PublicPackage,
): ReadonlyMap<string, string> {
  const documents = { [`${folder}/README.md`]: 'README.md', ...DOCUMENTS[name] }
  return new Map(
    Object.entries(documents).map(([source, published]) => {
      const text = readFileSync(join(root, source), 'utf8')
      return [published, withoutPadding(withLinks(text, source, documents))]
    }),
  )
}

/** The cells of a table look the same without the spaces that line them up, which were an eleventh of all documents. */
function withoutPadding(text: string): string {
  return text.replace(/^\|.*\|$/gm, (row) => row.replaceAll(/ {2,}\|/g, ' |').replaceAll(/-{4,}/g, '---'))
}

function withLinks(text: string, source: string, documents: Documents): string {
  // A reader of a package has the package.
  const withoutPart = text.replace(/<!-- not published yet -->\n[\s\S]*?<!-- end -->\n+/g, '')
  // A package carries no pictures.
  const withoutPictures = withoutPart.replace(/^!\[[^\]]*\]\([^)\s]+\)\n+/gm, '')
  const withPaths = rewritePaths(withoutPictures, documents)
  return withPaths.replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, label: string, link: string) => {
    if (/^([a-z]+:|#)/i.test(link)) return whole
    const [path = '', fragment] = link.split('#')
    const linked = posix.join(posix.dirname(source), path)
    const target = documents[linked]
    if (target === undefined && OF_THE_REPOSITORY.test(linked)) return label
    const elsewhere = target === undefined ? describeElsewhere(linked) : undefined
    if (elsewhere !== undefined) return `${label} (${elsewhere})`
    if (target === undefined) throw new Error(`${source} links to ${path}, which the package does not carry`)
    const relative = posix.relative(posix.dirname(documents[source] ?? ''), target)
    return `[${label}](${fragment === undefined ? relative : `${relative}#${fragment}`})`
  })
}

/** Writes each path that stands in a text without a link as the package has it, or names the package that carries it. */
function rewritePaths(text: string, documents: Documents): string {
  return text.replace(/`(docs\/[a-z/-]+\.md)`/g, (whole, path: string) => {
    const own = documents[path]
    if (own !== undefined) return `\`${own}\``
    return describeElsewhere(path) ?? whole
  })
}

/** Names a document that only another package carries. Returns undefined if none does. */
function describeElsewhere(path: string): string | undefined {
  for (const [name, documents] of Object.entries(DOCUMENTS)) {
    const published = documents[path]
    if (published !== undefined) return `\`${published}\` of the package \`${name}\``
  }
  return undefined
}
