/** For a value that is still being made: keys are set one after the other, which costs less than spreading objects. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
