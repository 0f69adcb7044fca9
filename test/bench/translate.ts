import type { Protocol, SseEvent } from '../../engine/gateway/protocol.ts';
import { createTranslation } from '../../engine/gateway/translate/index.ts';
import { createDice, randomRequest } from '../support/gateway/plain-exchange.ts';
import { PAIRS, PLAIN_PROTOCOLS } from '../support/gateway/plain-protocols.ts';
import { type Figure, figure, median } from './figure.ts';

const ROUNDS = 40;
const DELTAS = 1000;
const TURNS = 40;

const microseconds = (work: () => void): number => {
  const begin = performance.now();
  work();
  return (performance.now() - begin) * 1000;
};

/** A streamed answer with this many pieces of text. */
function longStream(protocol: Protocol): SseEvent[] {
  const usage = { input: 100, cacheRead: 0, output: DELTAS, reasoning: 0 };
  const plain = { thinking: '', text: 'word '.repeat(DELTAS), calls: [], isCut: false, usage };
  // Five letters a piece.
  return PLAIN_PROTOCOLS[protocol].stream(plain, { ...createDice(1), below: () => 4 });
}

/** A conversation of an agent, of some 100 KB. */
function longRequest(protocol: Protocol): object {
  const plain = randomRequest(1);
  const output = 'line of some output\n'.repeat(100);
  const turns = Array.from({ length: TURNS }, (_, index) => [
    {
      role: 'assistant' as const,
      text: 'I look.',
      calls: [{ id: `c${index}`, name: 'shell', args: { path: output } }],
    },
    { role: 'results' as const, results: [{ id: `c${index}`, name: 'shell', text: output, isError: false }] },
  ]);
  return PLAIN_PROTOCOLS[protocol].request({
    ...plain,
    turns: [...plain.turns.slice(0, 1), ...turns.flat()],
  });
}

/**
 * Measures the cost of translation, for a piece of a stream and for a whole request, compared with parsing and
 * printing the same JSON.
 */
export async function translateBench(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [from, to] of PAIRS) {
    const events = longStream(to);
    const asked = longRequest(from);
    const text = JSON.stringify(asked);
    const times: Record<'delta' | 'print' | 'request' | 'copy', number[]> = {
      delta: [],
      print: [],
      request: [],
      copy: [],
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const stream = createTranslation(from, to).stream();
      const translated = microseconds(() => {
        for (const event of events) stream.push(event);
        stream.end();
      });
      const printed = microseconds(() => {
        for (const { data } of events) if (data !== '[DONE]') JSON.stringify(JSON.parse(data));
      });
      times.delta.push(translated / events.length);
      times.print.push(printed / events.length);
      times.request.push(microseconds(() => JSON.stringify(createTranslation(from, to).request(asked, 'm'))));
      times.copy.push(microseconds(() => JSON.stringify(JSON.parse(text))));
    }
    const pair = `${from} from ${to}`;
    figures.push(
      figure(
        `${pair}, a piece of a stream (reference: parse and print it)`,
        median(times.delta),
        'µs',
        median(times.print),
      ),
      figure(
        `${from} to ${to}, a request of ${Math.round(text.length / 1000)} KB (reference: parse and print it)`,
        median(times.request),
        'µs',
        median(times.copy),
      ),
    );
  }
  return figures;
}
