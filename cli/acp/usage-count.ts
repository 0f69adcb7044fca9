/** Counts the tokens that an agent reports about its turns. */
export function createUsageCount() {
  const counted = { input: 0, cached: 0, output: 0 };
  /** The usage reported so far, and whether any was reported. */
  const told = { input: 0, cached: 0, output: 0, isKnown: false };

  /** Some report the tokens of each model request, and none at the end. */
  function countRequest(usage: unknown): void {
    const { input, cached, output } = countTokens(usage);
    counted.input += input;
    counted.cached += cached;
    counted.output += output;
  }

  function countAnswer(answer: unknown): void {
    const { usage } = (answer ?? {}) as { usage?: unknown };
    if (!usage) return;
    const { input, cached, output } = countTokens(usage);
    told.input += input;
    told.cached += cached;
    told.output += output;
    told.isKnown = true;
  }

  return { countRequest, countAnswer, sum: () => (told.isKnown ? told : counted) };
}

/**
 * `input` includes tokens read from or written to a cache. Some agents include them in their input, others list them
 * separately: if the total equals input plus output, they are included.
 */
function countTokens(usage: unknown): { input: number; cached: number; output: number } {
  const given = (usage ?? {}) as Record<string, unknown>;
  const readNumber = (name: string): number => (typeof given[name] === 'number' ? given[name] : 0);
  const [input, output] = [readNumber('inputTokens'), readNumber('outputTokens')];
  const cached = readNumber('cachedReadTokens');
  const apart = cached + readNumber('cachedWriteTokens');
  const total = readNumber('totalTokens');
  const isInside = total > 0 && total < input + apart + output;
  return { input: isInside ? input : input + apart, cached, output };
}
