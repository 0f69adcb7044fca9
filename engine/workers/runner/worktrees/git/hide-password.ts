/** Formats an address for display, without a password. */
export const hidePassword = (url: string): string => url.replace(/^([a-z+]+:\/\/[^/@:]+):[^/@]*@/i, '$1@');
