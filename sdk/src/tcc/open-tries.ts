export interface OpenTries {
  /** The same promise; its end is remembered. */
  follow<Answer>(trying: Promise<Answer>): Promise<Answer>
  /** When all have ended. Throws the first error among them, also if somebody has caught it. */
  ended(): Promise<void>
}

export function openTries(): OpenTries {
  const open = new Set<Promise<unknown>>()
  let failed: { readonly error: unknown } | undefined
  return {
    follow: (trying) => {
      const end = trying
        .catch((error: unknown) => {
          failed ??= { error }
        })
        .finally(() => open.delete(end))
      open.add(end)
      return trying
    },
    ended: async () => {
      // One that ends may have begun another.
      while (open.size > 0) await Promise.all(open)
      if (failed !== undefined) throw failed.error
    },
  }
}
