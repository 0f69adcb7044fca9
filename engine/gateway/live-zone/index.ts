import { existsSync } from 'node:fs';
import type { Log } from '../../core/base/log.ts';
import type { JsonEdit } from '../json-members.ts';
import type { LiveZoneSettings } from '../settings.ts';
import { type ForwardedTexts, openForwarded } from './forwarded.ts';
import { type EditedCall, listEdits, type OutputShortener } from './list-edits.ts';
import { forwardedPath } from './schema.ts';

export type { OutputShortener } from './list-edits.ts';

export interface LiveZoneDeps {
  data: string;
  now(): number;
  loadShortener(): Promise<OutputShortener>;
  log: Pick<Log, 'warn'>;
}

/** Replaces long tool outputs in passing requests with shorter texts. */
export interface LiveZone {
  /** Resolves once it is ready; until then requests are left unchanged. */
  configure(settings: LiveZoneSettings | null): Promise<void>;
  /** Returns the replacements for a request; every other byte stays. */
  edit(call: EditedCall): JsonEdit[];
  close(): void;
}

const SWEEP_MS = 5 * 60_000;

export function createLiveZone({ data, now, loadShortener, log }: LiveZoneDeps): LiveZone {
  let settings: LiveZoneSettings | null = null;
  let shortener: OutputShortener | null = null;
  let texts: ForwardedTexts | null = null;
  let sweeping: NodeJS.Timeout | null = null;
  const warn = (error: unknown, text: string): void =>
    log.warn({ error: error instanceof Error ? error.message : 'unknown' }, text);

  /** True if an earlier gateway forwarded replacements. */
  const hasForwarded = existsSync(forwardedPath(data));

  function open(): ForwardedTexts {
    texts ??= openForwarded(data, now);
    sweeping ??= setInterval(() => {
      try {
        texts?.sweep(settings?.idleMs ?? 0);
      } catch (error) {
        warn(error, 'old forwarded outputs were not removed');
      }
    }, SWEEP_MS).unref();
    return texts;
  }

  return {
    async configure(next) {
      // An earlier engine does not send this.
      settings = next ?? null;
      if (settings === null || shortener !== null) return;
      try {
        shortener = await loadShortener();
      } catch (error) {
        warn(error, 'outputs are not shortened');
      }
    },
    edit(call) {
      // A text that a person's program cannot read back stays.
      const isLost = call.holder.kind === 'person' && settings?.stores === false;
      const shortening = settings === null || shortener === null || isLost ? null : { settings, shortener };
      if (shortening === null && texts === null && !hasForwarded) return [];
      try {
        return listEdits(call, open(), { shortening, protectedTools: settings?.protectedTools ?? null });
      } catch (error) {
        warn(error, 'the outputs of a request were not shortened');
        return [];
      }
    },
    close() {
      if (sweeping !== null) clearInterval(sweeping);
      texts?.close();
      texts = null;
    },
  };
}
