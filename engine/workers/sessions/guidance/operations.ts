import { z } from 'zod';
import { operation } from '../../../core/api/operation.ts';
import type { WorkerGuidance } from './index.ts';
import { GUIDED_SEATS } from './rules.ts';

export const guidanceOperations = ({ guidance }: { guidance: WorkerGuidance }) => [
  operation({
    name: 'guidance.show',
    about: 'The rules that each seat is reminded of, in the language of workspace.locale.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ seat: z.enum(GUIDED_SEATS).optional() }),
    run: ({ seat: only }) => ({
      ...guidance.describeLanguage(),
      seats: GUIDED_SEATS.filter((seat) => only === undefined || seat === only).map((seat) => ({
        seat,
        rules: guidance.describeRules(seat, 'tools'),
      })),
    }),
  }),
];
