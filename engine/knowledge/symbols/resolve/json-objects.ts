export type JsonObject = Record<string, unknown>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a JSON file that may have comments; null if it has no object. */
export type ReadJson = (path: string) => JsonObject | null;
