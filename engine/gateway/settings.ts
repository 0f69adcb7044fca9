import type { ModelLimits } from '../core/models/index.ts';
import type { Protocol } from './protocol.ts';

/** The cost class of a call, cheapest first. */
export const TIERS = ['local', 'free', 'cheap', 'paid'] as const;
export type ModelTier = (typeof TIERS)[number];

/** One upstream. Holds a secret: never print it. */
export interface Provider {
  name: string;
  /** Without a slash at its end. */
  baseUrl: string;
  /** The upstream's own key; null if it needs none, or if the client's own key is passed on. */
  key: string | null;
  /** True to pass on the client's own credentials, if it has some next to its virtual key. */
  takesClientKey: boolean;
  /** The model to request; '' for any model that a request names. */
  model: string;
  /** Limits of that model from the configuration; null ones come from its list or svc's own data. */
  limits: ModelLimits;
  tier: ModelTier;
  /** Lower is tried first. */
  priority: number;
  /** Its protocols, closest match first. */
  protocols: readonly Protocol[];
}

/** The rules for shortening tool outputs in transit. */
export interface LiveZoneSettings {
  /** Only outputs after the model's last turn. */
  onlyLast: boolean;
  crushes: boolean;
  /** True if each whole output is kept. */
  stores: boolean;
  /** Minimum size in bytes. */
  longBytes: number;
  /** Tools whose outputs stay unchanged; empty for the default ones. */
  protectedTools: readonly string[];
  /** How long a whole output is kept without being forwarded or read, ms; 0 until its space is needed. */
  idleMs: number;
}

/** The gateway's settings; the engine sends them again when the configuration changes. */
export interface GatewaySettings {
  mode: 'off' | 'stub' | 'live';
  providers: readonly Provider[];
  /** Per UTC day; 0 for unlimited. */
  budgetTokensDay: number;
  /** 0 for no cache. */
  cacheTtlSec: number;
  cacheEntries: number;
  /** Minimum bytes of a long tool output; 0 to count none. */
  longToolBytes: number;
  /** Holders whose calls are logged with their content, see `ContentChoices`. */
  contentOf: readonly string[];
  /** Between two checks of the model lists; 0 for one check at the start. */
  probeIntervalSec: number;
  /** Null if tool outputs are passed on unchanged. */
  liveZone: LiveZoneSettings | null;
}

/** The input of a gateway process; it arrives on standard input, so that no argument contains a key. */
export interface GatewayStart {
  settings: GatewaySettings;
  host: string;
  port: number;
  /** The data folder and its id. */
  data: string;
  dataId: string;
  /** The engine's database, of which the gateway only reads the holders of keys. */
  db: string;
  /** Path of the module that shortens outputs, which the gateway only loads if needed. */
  shortener: string;
  version: string;
}
