import type { AgentError } from '../../engine/index.ts';

const LONGEST = 400;
/** The parts of an error that its meaning is derived from later. */
const LONGEST_PART = 2000;

export const clipText = (text: string, longest = LONGEST): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

/** Formats an agent's error for its line of the log. `limitedUntil` is when a plan's limit ends, if the agent reported it. */
export function describeError(
  error: unknown,
  clean: (text: string) => string,
  limitedUntil: number | null = null,
): AgentError {
  const { code, message = String(error), data } = error as Record<string, unknown>;
  // Secrets first: a cut secret is no longer found.
  const cleanPart = (text: string): string => clipText(clean(text), LONGEST_PART);
  const json = JSON.stringify(data, (_, value) => (typeof value === 'string' ? clean(value) : value));
  return {
    code: Number(code) || 0,
    message: cleanPart(String(message)),
    ...(json === undefined ? {} : { data: cleanPart(json) }),
    reset_at: limitedUntil,
    at: Date.now(),
  };
}

/** Removes the values of secrets from a text: an agent's error may repeat the refused key. */
export function createSecretRemover(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    /(?:KEY|TOKEN|SECRET|PASSWORD)$/.test(name) && value.length >= 8 ? [value] : [],
  );
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '…'), text);
}
