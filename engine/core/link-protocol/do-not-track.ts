/** Reports whether an environment refuses all telemetry: any value of `DO_NOT_TRACK` except a negative one. */
export const isDoNotTrackSet = (env: NodeJS.ProcessEnv): boolean =>
  !['', '0', 'false', 'no', 'off'].includes((env.DO_NOT_TRACK ?? '').trim().toLowerCase());
