// What is used of pdfmake. The types that are published for it bring a browser's along, which would hide Node's own.
declare module "pdfmake" {
  const pdfmake: {
    addFonts(fonts: Readonly<Record<string, Readonly<Record<string, string>>>>): void;
    setUrlAccessPolicy(allows: (url: string) => boolean): void;
    setLocalAccessPolicy(allows: (path: string) => boolean): void;
    createPdf(document: { readonly info?: { readonly title: string }; readonly defaultStyle?: object; readonly content: readonly unknown[] }): { getBuffer(): Promise<Buffer> };
  };
  // oxlint-disable-next-line import/no-default-export -- as the package exports it
  export default pdfmake;
}
