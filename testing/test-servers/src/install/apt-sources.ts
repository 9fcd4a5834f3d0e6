const SUITES = ['stable', 'testing', 'unstable', 'sid']

/**
 * Finds the address of Debian's own archive among apt's sources: the first that has this system's release in `main`.
 * The `texts` are the contents of the source files of both forms.
 */
export function findDebianArchive(texts: readonly string[], codename: string): string | undefined {
  const suites = [codename, ...SUITES]
  const sources = texts.flatMap((text) => [...parseStanzas(text), ...parseLines(text)])
  return sources.find(
    ({ suite, components }) => components.includes('main') && suite.some((name) => suites.includes(name)),
  )?.uri
}

interface AptSource {
  readonly uri: string
  readonly suite: readonly string[]
  readonly components: readonly string[]
}

/** Parses the newer form, which has paragraphs of fields. */
function parseStanzas(text: string): AptSource[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(paragraph)?.[1]?.trim().split(/\s+/) ?? []
    const [uri] = field('URIs')
    return uri === undefined ? [] : [{ uri, suite: field('Suites'), components: field('Components') }]
  })
}

/** Parses the older form, which has one line for each source. */
function parseLines(text: string): AptSource[] {
  return [...text.matchAll(/^deb[ \t]+(?:\[[^\]]*\][ \t]+)?(\S+)[ \t]+(\S+)[ \t]+(.*)$/gm)].map(
    ([, uri = '', suite = '', components = '']) => ({
      uri,
      suite: [suite],
      components: components.trim().split(/\s+/),
    }),
  )
}
