import type { AgentError } from '../../engine/index.ts';

const LONGEST = 400;
/** Of an error's parts: what they mean is told from them later. */
const LONGEST_PART = 2000;

export const clipText = (text: string, longest = LONGEST): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

/** An agent's error for its line of the log. `limitedUntil` is when a plan's limit ends, where the agent has told that. */
export function describeError(
  error: unknown,
  clean: (text: string) => string,
  limitedUntil: number | null = null,
): AgentError {
  const { code, message = String(error), data } = error as Record<string, unknown>;
  // Secrets first: half of one is no longer found.
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

/** Takes the values of secrets out of a text: an agent's error may repeat the key that was refused. */
export function createSecretRemover(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    /(?:KEY|TOKEN|SECRET|PASSWORD)$/.test(name) && value.length >= 8 ? [value] : [],
  );
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '…'), text);
}
