/**
 * The type of a value that is still being built. Its keys are set one after
 * the other, because spreading objects costs more.
 */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
