/** The compiler indents a declaration by four spaces for each level. They are a thirtieth of it, and one tab says the same. */
export function indentByTabs(declarations: string): string {
  return declarations.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
}
