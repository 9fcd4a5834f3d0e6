const JSON_TYPE = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i

/** Tells whether a content type says that the body is JSON, with whichever parameters. */
export function isJsonType(contentType: string | null | undefined): boolean {
  return JSON_TYPE.test(contentType ?? '')
}
