/** Numbers ids that come again: the second `charge` becomes `charge.2`, in the order in which the function asks. */
export class StepIds {
  readonly #taken = new Set<string>()
  readonly #numbers = new Map<string, number>()

  take(id: string): string {
    let number = this.#numbers.get(id) ?? 1
    let unique = number === 1 ? id : `${id}.${number}`
    // A function may have asked for an id that looks like a numbered one.
    while (this.#taken.has(unique)) {
      number += 1
      unique = `${id}.${number}`
    }
    this.#numbers.set(id, number + 1)
    this.#taken.add(unique)
    return unique
  }
}
