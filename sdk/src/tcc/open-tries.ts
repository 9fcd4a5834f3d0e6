export interface OpenTries {
  /** Returns the same promise, and remembers how it ends. */
  follow<Answer>(trying: Promise<Answer>): Promise<Answer>
  /** Resolves when all tries have ended. Throws the first error among them, also if the callback has caught it. */
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
      // A try that ends may have begun another.
      while (open.size > 0) await Promise.all(open)
      if (failed !== undefined) throw failed.error
    },
  }
}
