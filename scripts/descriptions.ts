const described = /\.describe\(\s*(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`),?\s*\)/g

/**
 * A compiled module without the descriptions of result fields. Only help, documents and JSON Schemas need them, and the action has none of
 * these.
 */
export const withoutDescriptions = (text: string): string => text.replaceAll(described, '')
