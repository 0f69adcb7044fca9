import { LANGUAGE_CASES } from '../engine/knowledge/symbols/cases/index.ts';
import { listCalls } from '../engine/knowledge/symbols/graph-rig.ts';
import { type Figure, figure } from './figure.ts';

const CLASSES = ['1.0', '0.7', '0.4'];

/** Measures the graph's accuracy on small programs in other languages, by class. */
export async function measureCases(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [language, cases] of Object.entries(LANGUAGE_CASES)) {
    const right = new Map<string, number>();
    const all = new Map<string, number>();
    let known = 0;
    for (const { files, calls } of cases) {
      known += calls.length;
      for (const call of await listCalls(files)) {
        const [, edge = '', confidence = ''] = /^(.*) \w+ ([\d.]+)$/.exec(call) ?? [];
        all.set(confidence, (all.get(confidence) ?? 0) + 1);
        if (calls.includes(edge)) right.set(confidence, (right.get(confidence) ?? 0) + 1);
      }
    }
    for (const confidence of CLASSES) {
      const [hits = 0, some = 0] = [right.get(confidence), all.get(confidence)];
      if (some > 0)
        figures.push(
          figure(
            `${language}, ${cases.length} programs: precision at ${confidence} of ${some} calls`,
            (100 * hits) / some,
            '%',
          ),
        );
    }
    const sure = (right.get('1.0') ?? 0) + (right.get('0.7') ?? 0);
    figures.push(figure(`${language}: recall at 0.7 and above of ${known} calls`, (100 * sure) / known, '%'));
  }
  return figures;
}
