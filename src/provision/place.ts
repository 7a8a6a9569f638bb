// Owns where in a file something stands.

export interface Place {
  /** As the user named it: a path, or an input. */
  readonly file: string
  /** From 1; undefined when it is about the file as a whole. */
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** `file:line:column`. */
export const formatPlace = ({ file, line, column }: Place): string => [file, line, column].filter((part) => part !== undefined).join(':')
