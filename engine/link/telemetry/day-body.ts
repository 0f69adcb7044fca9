import { rfc3339 } from '../../core/base/clock.ts';
import { version } from '../../core/base/own-package.ts';
import {
  ARCHITECTURES,
  addCount,
  findWord,
  PLATFORMS,
  TELEMETRY_SCHEMA,
  type TelemetryDay,
  type TOKEN_TIERS,
} from '../../core/link-protocol/telemetry-day.ts';
import { platform } from '../../core/platform/index.ts';
import type { TelemetryRow } from './rows.ts';

export const DAY_MS = 86_400_000;
/** Delay after a day's end before it is sent: calls that started in it have ended then. */
const SETTLING_MS = 3600_000;

export const dayOf = (at: number): string => rfc3339(at).slice(0, 10);

export const isDayFinished = (day: string, now: number): boolean =>
  now >= Date.parse(day) + DAY_MS + SETTLING_MS;

/** Tokens through the gateway, by the tier of the provider. */
export type TierTokens = Partial<Record<(typeof TOKEN_TIERS)[number], number>>;

/** Builds the message about a day. @param calls the tokens of its calls through the gateway */
export function buildDayBody(
  { day, counts }: Pick<TelemetryRow, 'day' | 'counts'>,
  calls: TierTokens,
): TelemetryDay {
  const tokens = { ...counts.tokens };
  for (const [tier, n] of Object.entries(calls) as [keyof TierTokens, number][]) addCount(tokens, tier, n);
  return {
    schema: TELEMETRY_SCHEMA,
    day,
    version: /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '0.0.0',
    node: Number.parseInt(process.versions.node, 10),
    platform: findWord(PLATFORMS, platform.name),
    architecture: findWord(ARCHITECTURES, process.arch),
    ...counts,
    tokens,
  };
}
