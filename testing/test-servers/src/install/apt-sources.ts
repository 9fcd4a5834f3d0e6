const SUITES = ['stable', 'testing', 'unstable', 'sid']

/**
 * The address of Debian's own archive among apt's sources: the first that has this system's release in `main`.
 * `texts` are the contents of the source files, of both kinds.
 */
export function debianArchive(texts: readonly string[], codename: string): string | undefined {
  const suites = [codename, ...SUITES]
  const sources = texts.flatMap((text) => [...stanzas(text), ...lines(text)])
  return sources.find(
    ({ suite, components }) => components.includes('main') && suite.some((name) => suites.includes(name)),
  )?.uri
}

interface AptSource {
  readonly uri: string
  readonly suite: readonly string[]
  readonly components: readonly string[]
}

/** The newer form: paragraphs of fields. */
function stanzas(text: string): AptSource[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(paragraph)?.[1]?.trim().split(/\s+/) ?? []
    const [uri] = field('URIs')
    return uri === undefined ? [] : [{ uri, suite: field('Suites'), components: field('Components') }]
  })
}

/** The older form: one line each. */
function lines(text: string): AptSource[] {
  return [...text.matchAll(/^deb[ \t]+(?:\[[^\]]*\][ \t]+)?(\S+)[ \t]+(\S+)[ \t]+(.*)$/gm)].map(
    ([, uri = '', suite = '', components = '']) => ({
      uri,
      suite: [suite],
      components: components.trim().split(/\s+/),
    }),
  )
}
