import { transformSync } from 'esbuild'

/**
 * Takes the comments out of a compiled module. They are a quarter of it, and speak to who reads the sources. The declarations
 * beside it keep theirs, which editors show.
 */
export function withoutComments(code: string): string {
  // The tool keeps comments of fields and methods where it does not write all in one line.
  const written = transform(transform(code, true))
  const indented = written.replaceAll(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2))
  // A line within a template may begin with spaces, and they belong to a text.
  return transform(indented) === written ? indented : written
}

/** The tool indents by two spaces for each level. They are a thirtieth of a module, and one tab says the same. */
function transform(code: string, minifyWhitespace = false): string {
  const options = { format: 'esm', target: 'esnext', charset: 'utf8', legalComments: 'none' } as const
  return transformSync(code, { ...options, minifyWhitespace }).code
}
