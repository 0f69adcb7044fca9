import { existsSync } from 'node:fs';
import type { Log } from '../../core/base/log.ts';
import type { JsonEdit } from '../json-members.ts';
import type { LiveZoneSettings } from '../settings.ts';
import { type ForwardedTexts, openForwarded } from './forwarded.ts';
import { type EditedCall, listEdits } from './list-edits.ts';
import { forwardedPath } from './schema.ts';
import { createOutputShortening, type OutputShortening } from './shorten-outputs.ts';

export interface LiveZoneDeps {
  data: string;
  now(): number;
  /** The URL of the module that shortens outputs. */
  shortener: string;
  /** How long a request waits until its new outputs are shortened, ms. */
  budgetMs: number;
  log: Pick<Log, 'warn'>;
}

/** Replaces long tool outputs in passing requests with shorter texts. */
export interface LiveZone {
  configure(settings: LiveZoneSettings | null): void;
  /** Returns the replacements for a request; every other byte stays. */
  edit(call: EditedCall): JsonEdit[] | Promise<JsonEdit[]>;
  close(): Promise<void>;
}

const SWEEP_MS = 5 * 60_000;

const sortEdits = (edits: JsonEdit[]): JsonEdit[] => edits.sort((one, other) => one.start - other.start);

export function createLiveZone({ data, now, shortener, budgetMs, log }: LiveZoneDeps): LiveZone {
  let settings: LiveZoneSettings | null = null;
  let opened: { texts: ForwardedTexts; shortening: OutputShortening; sweeping: NodeJS.Timeout } | null = null;
  const warn = (error: unknown, text: string): void =>
    log.warn({ error: error instanceof Error ? error.message : 'unknown' }, text);

  /** True if an earlier gateway forwarded replacements. */
  const hasForwarded = existsSync(forwardedPath(data));

  function open(): NonNullable<typeof opened> {
    if (opened !== null) return opened;
    const texts = openForwarded(data, now);
    const onFailed = (error: unknown): void => warn(error, 'outputs were not shortened');
    const sweep = (): void => {
      try {
        texts.sweep(settings?.idleMs ?? 0);
      } catch (error) {
        warn(error, 'old forwarded outputs were not removed');
      }
    };
    opened = {
      texts,
      shortening: createOutputShortening({ data, shortener, texts, budgetMs, onFailed }),
      sweeping: setInterval(sweep, SWEEP_MS).unref(),
    };
    return opened;
  }

  return {
    configure(next) {
      // An earlier engine does not send this.
      settings = next ?? null;
      opened?.shortening.reconsider();
      if (settings === null) return;
      try {
        open().shortening.prepare();
      } catch (error) {
        warn(error, 'outputs are not shortened');
      }
    },
    edit(call) {
      if (settings === null && opened === null && !hasForwarded) return [];
      // A text that a person's program cannot read back stays.
      const isLost = call.holder.kind === 'person' && settings?.stores === false;
      const given = isLost ? null : settings;
      try {
        const { texts, shortening } = open();
        const protectedTools = settings?.protectedTools ?? null;
        const { edits, fresh } = listEdits(call, texts, { settings: given, protectedTools });
        if (given === null || fresh.length === 0) return sortEdits(edits);
        return shortening.shorten(call.body, fresh, given).then((made) => sortEdits([...edits, ...made]));
      } catch (error) {
        warn(error, 'the outputs of a request were not shortened');
        return [];
      }
    },
    async close() {
      if (opened === null) return;
      const { texts, shortening, sweeping } = opened;
      opened = null;
      clearInterval(sweeping);
      await shortening.close();
      texts.close();
    },
  };
}
