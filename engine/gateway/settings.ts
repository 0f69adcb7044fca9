import type { ModelLimits } from '../core/models/index.ts';
import type { Protocol } from './protocol.ts';

/** What a call costs, the least first. */
export const TIERS = ['local', 'free', 'cheap', 'paid'] as const;
export type Tier = (typeof TIERS)[number];

/** One upstream. Holds a secret: never print it. */
export interface Provider {
  name: string;
  /** Without a slash at its end. */
  baseUrl: string;
  /** The upstream's own key; null where it needs none, or the client's own is passed on. */
  key: string | null;
  /** Passes on the client's own credentials, where it has some beside its virtual key. */
  takesClientKey: boolean;
  /** The model that it is asked for; '' for whatever model a request names. */
  model: string;
  /** Of that model, as the configuration says; what is null is told by its list, or known by its name. */
  limits: ModelLimits;
  tier: Tier;
  /** Lower is tried first. */
  priority: number;
  /** What it speaks, what is most like it first. */
  protocols: readonly Protocol[];
}

/** Which outputs of tools are shortened on their way, and how. */
export interface LiveZoneSettings {
  /** Only those that came after the model's last turn. */
  onlyLast: boolean;
  crushes: boolean;
  /** Whether the whole of each is kept. */
  stores: boolean;
  /** From how many bytes on. */
  longBytes: number;
  /** Tools whose outputs stay as they are; none for the usual ones. */
  protectedTools: readonly string[];
  /** How long a whole output is kept that nobody forwards or reads, ms; 0 for until its room is needed. */
  idleMs: number;
}

/** What the gateway is told to do; the engine sends it again whenever the configuration changes. */
export interface GatewaySettings {
  mode: 'off' | 'stub' | 'live';
  providers: readonly Provider[];
  /** In one UTC day; 0 for unlimited. */
  budgetTokensDay: number;
  /** 0 for no cache. */
  cacheTtlSec: number;
  cacheEntries: number;
  /** From how many bytes on an answer of a tool is long; 0 to count none. */
  longToolBytes: number;
  /** Whose calls are logged with their content, see `ContentChoices`. */
  contentOf: readonly string[];
  /** Between two looks at the lists of models; 0 for one look at the start. */
  probeIntervalSec: number;
  /** Null where outputs of tools are passed on as they are. */
  liveZone: LiveZoneSettings | null;
}

/** What a gateway's process is started with; it comes on standard input, so that no key is in an argument. */
export interface GatewayStart {
  settings: GatewaySettings;
  host: string;
  port: number;
  /** The data folder, and the id that it has. */
  data: string;
  dataId: string;
  /** The engine's database, of which the gateway only reads who holds a key. */
  db: string;
  /** URL of the module that shortens outputs, which the gateway does not load unless it is to. */
  shortener: string;
  version: string;
}
