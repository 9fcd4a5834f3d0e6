import { randomUUID } from 'node:crypto'

/** The things whose ids are handed from branch to branch. */
export type TokenKind = 'quote' | 'hold' | 'payment' | 'approval'

const TOKEN = /\b(?:quote|hold|payment|approval)-[0-9a-f]{8}-[0-9a-f-]{27}/g

/** Makes an id that no other text has, so that a run can follow where it goes. */
export function makeToken(kind: TokenKind): string {
  return `${kind}-${randomUUID()}`
}

/** Finds all ids in a text, each once. */
export function findTokens(text: string): readonly string[] {
  return [...new Set(text.match(TOKEN))]
}

export function isOfKind(token: string, kind: TokenKind): boolean {
  return token.startsWith(`${kind}-`)
}

/** Reads the kind that an id begins with. */
export function readKind(token: string): string {
  return token.slice(0, token.indexOf('-'))
}
