// The page is in English. uPlot writes numbers in the language of the browser, and throws where that is not a valid tag, as `en-US@posix`.
Object.defineProperty(navigator, 'language', { value: 'en' })
