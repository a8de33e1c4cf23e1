package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

// understood compares a configuration's text with what was made of it.
//
// What was read is written out again: whatever the text says and the output does not was silently ignored. A zero value
// that is left out means the same as one that is there.
func understood(text string, config any, logged string) (*understanding, error) {
	var said, kept any
	if err := yaml.Unmarshal([]byte(text), &said); err != nil {
		return nil, err
	}
	written, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(written, &kept); err != nil {
		return nil, err
	}
	ignored := append([]string{}, missing("", said, kept)...)
	sort.Strings(ignored)
	return &understanding{Config: config, Ignored: ignored, Warnings: lines(logged)}, nil
}

func missing(place string, said, kept any) (found []string) {
	switch value := said.(type) {
	case map[string]any:
		inside, _ := kept.(map[string]any)
		for key, inner := range value {
			found = append(found, missing(place+"."+key, inner, fold(inside, key))...)
		}
	case []any:
		inside, _ := kept.([]any)
		for number, inner := range value {
			var other any
			if number < len(inside) {
				other = inside[number]
			}
			found = append(found, missing(fmt.Sprint(place, "[", number, "]"), inner, other)...)
		}
	default:
		if kept == nil && said != nil && said != false && said != "" && said != float64(0) {
			found = append(found, strings.TrimPrefix(place, "."))
		}
	}
	return found
}

// fold looks a key up as encoding/json does: exactly, or else in any case.
func fold(object map[string]any, key string) any {
	if value, there := object[key]; there {
		return value
	}
	for name, value := range object {
		if strings.EqualFold(name, key) {
			return value
		}
	}
	return nil
}

func lines(logged string) []string {
	return strings.FieldsFunc(logged, func(r rune) bool { return r == '\n' })
}

// inFile calls a function with the path of a file that holds the text: upstream reads files only.
func inFile(text string, use func(path string) error) error {
	file, err := os.CreateTemp("", "upstream-parsers-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := bytes.NewBufferString(text).WriteTo(file); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return use(file.Name())
}
