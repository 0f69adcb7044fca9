declare module 'pino-roll' {
  import type { SonicBoom } from 'sonic-boom';

  /** The part of its options that we use; it ships no types. */
  export default function build(options: {
    file: string;
    extension?: string;
    size?: string;
    limit?: { count: number; removeOtherLogFiles?: boolean };
    mode?: number;
    sync?: boolean;
  }): Promise<SonicBoom>;
}
